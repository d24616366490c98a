! SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
!
! mpirun -np P transpose [N [REPEATS]]: a cube of N x N x N numbers, turned as a three-dimensional FFT turns it.
!
! Ranks form a grid. Each has a pencil of the cube: all x for some y and z. MPI_Alltoall in its row of the grid gives it
! all y for some x and z, then MPI_Alltoall in its column all z for some x and y. Each number is compared with what has
! to be there. The same in C: transpose.c.
!
!   mpifort -o transpose transpose.f90
!   mpirun -x LD_PRELOAD=libforsched-mpi.so -x FORSCHED_SCHEDULE=/net/fors/schedule -np 64 transpose 256
!
program transpose_cube
  use mpi
  implicit none
  integer :: rank, ranks, n, repeats, i, ierror, dims(2), at(2), grid, comm(2), wrong, all
  logical :: periods(2)
  double precision :: mine, last
  character(len=16) :: word

  call MPI_Init(ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  dims = 0
  periods = .false.
  call MPI_Dims_create(ranks, 2, dims, ierror)
  n = 4 * dims(1) * dims(2)
  repeats = 1
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) n
  call get_command_argument(2, word)
  if (len_trim(word) > 0) read (word, *) repeats
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid, ierror)
  call MPI_Comm_rank(grid, rank, ierror)
  call MPI_Cart_coords(grid, rank, 2, at, ierror)
  call MPI_Cart_sub(grid, [.true., .false.], comm(1), ierror)
  call MPI_Cart_sub(grid, [.false., .true.], comm(2), ierror)
  if (n <= 0 .or. mod(n, dims(1)) /= 0 .or. mod(n, dims(2)) /= 0) then
    print '(a,i0,a,i0)', 'N has to be a multiple of ', dims(1), ' and of ', dims(2)
    call MPI_Abort(MPI_COMM_WORLD, 2, ierror)
  end if
  wrong = 0
  do i = 1, repeats
    call turn_cube()
    call MPI_Reduce(mine, last, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, ierror)
    if (rank == 0) print '(i0,a,i0,a,i0,a,f0.6,a)', dims(1), ' x ', dims(2), ' ranks, ', n, ' on each side: ', last, ' seconds'
  end do
  call MPI_Reduce(wrong, all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(i0,a)', all, ' wrong numbers'
  call MPI_Finalize(ierror)
  if (rank == 0 .and. all /= 0) stop 1

contains

  double precision function number(x, y, z)
    integer, intent(in) :: x, y, z
    number = x + dble(n) * (y + dble(n) * z)
  end function

  ! a(n, n/p, outer) of each of the p ranks of a communicator becomes b(n, outer, n/p): what is spread over the ranks
  ! comes together, and what was together is spread.
  subroutine turn(where, p, outer, a, b)
    integer, intent(in) :: where, p, outer
    double precision, intent(in) :: a(n, n / p, outer)
    double precision, intent(out) :: b(n, outer, n / p)
    double precision, allocatable :: sent(:, :, :, :), got(:, :, :, :)
    integer :: part, peer, i, m, block

    part = n / p
    block = part * part * outer
    allocate (sent(part, part, outer, p), got(part, part, outer, p))
    do peer = 1, p
      sent(:, :, :, peer) = a((peer - 1) * part + 1:peer * part, :, :)
    end do
    call MPI_Alltoall(sent, block, MPI_DOUBLE_PRECISION, got, block, MPI_DOUBLE_PRECISION, where, ierror)
    do peer = 1, p
      do i = 1, part
        do m = 1, part
          b((peer - 1) * part + m, :, i) = got(i, m, :, peer)
        end do
      end do
    end do
    deallocate (sent, got)
  end subroutine

  ! From x whole to y whole to z whole.
  subroutine turn_cube()
    double precision, allocatable :: a(:, :, :), b(:, :, :), c(:, :, :)
    integer :: x, y, z, nx, ny, nz, part

    nx = n / dims(1)
    ny = n / dims(1)
    nz = n / dims(2)
    part = n / dims(2)
    allocate (a(n, ny, nz), b(n, nz, nx), c(n, nx, part))
    do z = 1, nz
      do y = 1, ny
        do x = 1, n
          a(x, y, z) = number(x, at(1) * ny + y, at(2) * nz + z)
        end do
      end do
    end do
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    mine = MPI_Wtime()
    call turn(comm(1), dims(1), nz, a, b)
    call turn(comm(2), dims(2), nx, b, c)
    mine = MPI_Wtime() - mine
    do y = 1, part
      do x = 1, nx
        do z = 1, n
          if (c(z, x, y) /= number(at(1) * nx + x, at(2) * part + y, z)) wrong = wrong + 1
        end do
      end do
    end do
    deallocate (a, b, c)
  end subroutine
end program
