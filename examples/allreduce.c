/* One MPI world over several clusters: each rank adds its number, and all learn the sum. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, mine, sum = 0;
    const char *cluster = getenv("METABROKER_CLUSTER");

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = rank + 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d: sum %d in %s\n", rank, size, sum, cluster ? cluster : "no cluster");
    MPI_Finalize();
    return 0;
}
