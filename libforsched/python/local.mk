# The Python module forsched: ctypes over libforsched, so nothing to build. Installed where automake thinks that Python looks; a
# distribution that knows better says so: make install pythondir=/usr/lib/python3/dist-packages
python_files = libforsched/python/forsched/__init__.py libforsched/python/forsched/py.typed
EXTRA_DIST += $(python_files)
if HAVE_PYTHON
forschedpydir = $(pythondir)/forsched
forschedpy_DATA = $(python_files)
dist_man_MANS += man/forsched-python.7
else
EXTRA_DIST += man/forsched-python.7
endif
