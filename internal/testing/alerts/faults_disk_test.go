package alerts_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// faultOfTheDisk gives the database a disk that is too small. The node exporter sees a file system
// of that size where Debian keeps PostgreSQL's data: it runs in namespaces of its own, of mounts and,
// because it reads the mounts of process 1, of processes.
func (s *site) faultOfTheDisk() fault {
	return fault{
		"the disk of the database has 1 MB", "LineproofDatabaseDiskFills", true,
		func(ctx context.Context) error { return s.exportDisk(ctx, "1m") },
		func(ctx context.Context) error { return s.exportDisk(ctx, "1t") },
	}
}

// exportDisk starts the node exporter, for the first time or again, with a disk of a size.
func (s *site) exportDisk(ctx context.Context, size string) error {
	program, err := exec.LookPath("prometheus-node-exporter")
	if err != nil {
		return errors.New("there is no prometheus-node-exporter; install the package of that name")
	}
	if s.exporter != nil {
		s.exporter.Kill()
	}
	log, err := os.OpenFile(filepath.Join(s.dir, "exporter.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.exporter, err = process.Run(exec.Command("unshare", "--map-root-user", "--mount", "--pid", "--mount-proc", "--kill-child", "sh", "-c",
		`mount -t tmpfs -o size="$1" tmpfs /var/lib/postgresql && exec "$2" --web.listen-address="$3" --collector.disable-defaults --collector.filesystem`,
		"sh", size, program, s.exporterAddress), log)
	if err != nil {
		return err
	}
	return until(ctx, "the node exporter answers", func(ctx context.Context) error {
		_, err := s.get(ctx, "http://"+s.exporterAddress+"/metrics")
		return err
	})
}
