# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What squeue --json prints: of 22.05 as recorded from three jobs (running, configuring, pending); of 24.05 after the description of
data_parser v0.0.41 and what others have recorded of 23.11 (job_state a list, numbers in objects), most keys left out."""
import json

TEXTS = """
    account admin_comment array_task_string batch_features burst_buffer burst_buffer_state cluster_features command container
    cpus_per_tres dependency excluded_nodes features federation_origin federation_siblings_active federation_siblings_viable
    licenses mcs_label memory_per_tres het_job_id_set prefer qos required_nodes resv_name state_description standard_error
    system_comment tres_bind tres_freq tres_per_job tres_per_node tres_per_socket tres_per_task wckey
"""
ZEROS = """
    array_job_id array_max_tasks association_id deadline delay_boot derived_exit_code exit_code group_id max_cpus tasks_per_node
    tasks_per_board het_job_id het_job_offset minimum_tmp_disk_per_node preempt_time pre_sus_time resize_time restart_cnt
    sockets_per_board suspend_time time_minimum user_id
"""
NULLS = """
    array_task_id core_spec thread_spec cores_per_socket cpus_per_task cpu_frequency_minimum cpu_frequency_maximum
    cpu_frequency_governor nice tasks_per_core tasks_per_socket memory_per_node memory_per_cpu profile sockets_per_node time_limit
    threads_per_core
"""
OTHERS = {"accrue_time": 1795335127, "batch_flag": True, "cluster": "fors", "contiguous": False, "eligible_time": 1795335127, "gres_detail": [], "group_name": "root", "partition": "all", "minimum_cpus_per_node": 1, "reboot": False, "requeue": True, "shared": "none", "show_flags": ["SHOW_ALL", "SHOW_DETAIL", "SHOW_LOCAL"], "standard_input": "/dev/null", "standard_output": "/home/user/out/%j", "submit_time": 1795335127, "user_name": "root", "current_working_directory": "/home/user"}


def of_22_05():
    def job(number, hosts, listed, **more):
        n = len(hosts)
        core = {"sockets": {"0": {"cores": {"0": "allocated"}}}, "cpus_used": 0, "memory_used": 0, "memory_allocated": 0}
        resources = {"nodes": listed, "allocated_hosts": n, "allocated_nodes": [{"nodename": host, **core} for host in hosts]}
        return {**dict.fromkeys(TEXTS.split(), ""), **dict.fromkeys(ZEROS.split(), 0), **dict.fromkeys(NULLS.split()), **OTHERS,
                "job_id": number, "batch_host": hosts[0], "flags": ["JOB_WAS_RUNNING"], "comment": "", "billable_tres": float(n), "end_time": 1826871129,
                "job_resources": resources, "last_sched_evaluation": 1795335129, "max_nodes": 0, "name": "wrap", "nodes": listed, "cpus": n, "node_count": n,
                "tasks": n, "priority": 4294901760 - number, "start_time": 1795335129, "state_reason": "None",
                "tres_req_str": f"cpu={n},mem={n}0M,node={n},billing={n}", "tres_alloc_str": f"cpu={n},node={n},billing={n}", **more}
    waits = job(3, ["Node"] * 8, "", batch_host="", flags=[], billable_tres=None, end_time=0, job_state="PENDING", last_sched_evaluation=1795335132,
                max_nodes=8, start_time=0, state_reason="Resources", tres_alloc_str="")
    del waits["job_resources"]
    jobs = [job(1, ["Node00-00", "Node00-01", "Node01-00"], "Node00-[00-01],Node01-00", comment="fors=exclusive", job_state="RUNNING"),
            job(2, ["Node02-00", "Node02-01"], "Node02-[00-01]", job_state="CONFIGURING", name="slow"), waits]
    meta = {"plugin": {"type": "openapi/v0.0.38", "name": "Slurm OpenAPI v0.0.38"}, "Slurm": {"version": {"major": 22, "micro": 8, "minor": 5}, "release": "22.05.8"}}
    return json.dumps({"meta": meta, "errors": [], "jobs": jobs}, indent=1)


def of_24_05():
    def number(value, is_set=True):
        return {"set": is_set, "infinite": False, "number": value}

    def job(job_id, states, hosts, listed, comment=""):
        n = len(hosts)
        nodes = {"count": n, "select_type": ["AVAILABLE"], "list": listed, "whole": True,
                 "allocation": [{"index": i, "name": host, "cpus": {"count": 1, "used": 0}} for i, host in enumerate(hosts)]}
        resources = {"select_type": ["CPU", "MEMORY"], "nodes": nodes, "cpus": n} if hosts else None
        return {"account": "chem", "allocating_node": "head", "array_job_id": number(0), "array_task_id": number(0, False), "batch_flag": True, "cluster": "fors",
                "comment": comment, "exclusive": [], "flags": ["JOB_WAS_RUNNING"], "het_job_id": number(0), "het_job_offset": number(0), "job_id": job_id,
                "job_resources": resources, "job_state": states, "name": "wrap", "node_count": number(n), "nodes": listed, "partition": "all",
                "priority": number(4294901759), "shared": ["none"], "start_time": number(1711534808), "state_reason": "None", "tasks": number(n),
                "user_name": "user"}
    jobs = [job(11, ["RUNNING"], ["Node00-00", "Node00-01", "Node00-02"], "Node00-[00-02]", "fors=exclusive"),
            job(12, ["CONFIGURING", "RUNNING"], ["Node01-00", "Node02-00", "Node02-01"], "Node01-00,Node02-[00-01]"), job(13, ["PENDING"], [], ""),
            job(14, ["COMPLETING", "COMPLETED"], ["Node03-00"], "Node03-00"), job(15, ["RUNNING", "SUSPENDED"], ["Node03-01"], "Node03-01")]
    meta = {"plugin": {"type": "", "name": "", "data_parser": "data_parser/v0.0.41", "accounting_storage": ""},
            "client": {"source": "/dev/pts/0", "user": "user", "group": "user"}, "command": ["squeue"],
            "slurm": {"version": {"major": "24", "micro": "1", "minor": "05"}, "release": "24.05.1", "cluster": "fors"}}
    return json.dumps({"jobs": jobs, "last_backfill": number(1711536308), "last_update": number(1711536388), "meta": meta, "errors": [], "warnings": []}, indent=1)
