! SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
!
! fortran_calls CALLS: all-to-all calls from Fortran, each done twice: by the MPI_ name, which libforsched-mpi answers, and
! by the PMPI_ name. Every number has to be the same. With -DF08 through the module mpi_f08, with -DMODULE through the
! module mpi, else through mpif.h; with -DTHREADS after MPI_Init_thread. Prints "N calls, N different".
!
#ifdef F08
#define TYPES type(MPI_Datatype)
#define COMM type(MPI_Comm)
#else
#define TYPES integer
#define COMM integer
#endif

program fortran_calls
#ifdef F08
  use mpi_f08
#elif defined(MODULE)
  use mpi
#endif
  implicit none
#if !defined(F08) && !defined(MODULE)
  include 'mpif.h'
#endif
  integer :: rank, ranks, calls, i, different, all, ierror, provided
  character(len=16) :: word

#ifdef THREADS
  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided, ierror)
#else
  call MPI_Init(ierror)
#endif
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call get_command_argument(1, word)
  read (word, *) calls
  different = 0
  do i = 1, calls
    call uniform(i, MPI_COMM_WORLD)
    call vector(i, MPI_COMM_WORLD)
    call types_of_each(i)
  end do
  call rows(calls)
  call MPI_Reduce(different, all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(i0,a,i0,a)', calls, ' calls, ', all, ' different'
  call MPI_Finalize(ierror)

contains

  ! Numbers from one rank to another.
  integer function length(from, to, i)
    integer, intent(in) :: from, to, i
    length = mod(from * 7 + to * 5 + i, 4) * 9
  end function

  subroutine fill(numbers, what)
    integer, intent(out) :: numbers(:)
    integer, intent(in) :: what
    integer :: k
    do k = 1, size(numbers)
      numbers(k) = rank * 100000 + what * 1000 + k
    end do
  end subroutine

  subroutine compare(one, other)
    integer, intent(in) :: one(:), other(:)
    if (any(one /= other)) different = different + 1
  end subroutine

  subroutine uniform(i, where)
    integer, intent(in) :: i
    COMM, intent(in) :: where
    integer :: out(ranks * 9), one(ranks * 9), other(ranks * 9)

    call fill(out, i)
    one = -1
    other = -1
    call MPI_Alltoall(out, 9, MPI_INTEGER, one, 9, MPI_INTEGER, where, ierror)
    call PMPI_Alltoall(out, 9, MPI_INTEGER, other, 9, MPI_INTEGER, where, ierror)
    call compare(one, other)
    one = out
    other = out
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, one, 9, MPI_INTEGER, where, ierror)
    call PMPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, other, 9, MPI_INTEGER, where, ierror)
    call compare(one, other)
  end subroutine

  subroutine vector(i, where)
    integer, intent(in) :: i
    COMM, intent(in) :: where
    integer :: out(ranks * 40), one(ranks * 40), other(ranks * 40), sent(ranks), got(ranks), at(ranks), k, own, peers

    call MPI_Comm_rank(where, own, ierror)
    call MPI_Comm_size(where, peers, ierror)
    do k = 1, peers
      sent(k) = length(own, k - 1, i)
      got(k) = length(k - 1, own, i)
      at(k) = (peers - k) * 40
    end do
    call fill(out, i)
    one = -1
    other = -1
    call MPI_Alltoallv(out, sent, at, MPI_INTEGER, one, got, at, MPI_INTEGER, where, ierror)
    call PMPI_Alltoallv(out, sent, at, MPI_INTEGER, other, got, at, MPI_INTEGER, where, ierror)
    call compare(one, other)
  end subroutine

  subroutine types_of_each(i)
    integer, intent(in) :: i
    integer :: out(ranks * 40), one(ranks * 40), other(ranks * 40), sent(ranks), got(ranks), at(ranks), k
    TYPES :: three, types(ranks)

    call MPI_Type_contiguous(3, MPI_INTEGER, three, ierror)
    call MPI_Type_commit(three, ierror)
    do k = 1, ranks
      sent(k) = length(rank, k - 1, i)
      got(k) = length(k - 1, rank, i)
      types(k) = MPI_INTEGER
      if (mod(rank + k, 2) == 0) then
        types(k) = three
        sent(k) = sent(k) / 3
        got(k) = got(k) / 3
      end if
      at(k) = (k - 1) * 160
    end do
    call fill(out, i)
    one = -1
    other = -1
    call MPI_Alltoallw(out, sent, at, types, one, got, at, types, MPI_COMM_WORLD, ierror)
    call PMPI_Alltoallw(out, sent, at, types, other, got, at, types, MPI_COMM_WORLD, ierror)
    call compare(one, other)
    got = 3
    types = three
    one = out
    other = out
    call MPI_Alltoallw(MPI_IN_PLACE, sent, at, types, one, got, at, types, MPI_COMM_WORLD, ierror)
    call PMPI_Alltoallw(MPI_IN_PLACE, sent, at, types, other, got, at, types, MPI_COMM_WORLD, ierror)
    call compare(one, other)
    call MPI_Type_free(three, ierror)
  end subroutine

  ! Rows of two ranks and columns, by a split and by a grid.
  subroutine rows(calls)
    integer, intent(in) :: calls
    integer :: dims(2), i
    logical :: periods(2), remain(2)
    COMM :: row, grid, column

    call MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, row, ierror)
    dims = [ranks / 2, 2]
    periods = .false.
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid, ierror)
    remain = [.true., .false.]
    call MPI_Cart_sub(grid, remain, column, ierror)
    do i = 1, calls
      call vector(i, row)
      call vector(i, column)
    end do
    call MPI_Comm_free(row, ierror)
    call MPI_Comm_free(column, ierror)
    call MPI_Comm_free(grid, ierror)
  end subroutine
end program
