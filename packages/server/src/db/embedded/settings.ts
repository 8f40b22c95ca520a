import { totalmem } from 'node:os'
import { PORT } from './socket-dir.ts'

/** Arguments for `postgres`. They override postgresql.conf, so a cluster of an older Millrace gets them too. */
export function postgresArguments(cluster: string, socketDir: string, durable: boolean): string[] {
  const settings: Record<string, string | number> = {
    listen_addresses: '',
    port: PORT,
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    max_connections: 200,
    shared_buffers: `${sharedBuffersMb()}MB`,
    random_page_cost: 1.1,
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_destination: 'stderr',
    logging_collector: 'off',
    log_checkpoints: 'off',
    log_line_prefix: '%m [%p] ',
    ...(durable ? { fsync: 'on' } : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  }
  return ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

/** An eighth of the memory this process may use, which in a container is less than the machine has. */
function sharedBuffersMb(): number {
  const limit = process.constrainedMemory() || Infinity
  const eighthMb = Math.min(totalmem(), limit) / 8 / 1024 / 1024
  return Math.round(Math.min(Math.max(eighthMb, 64), 512))
}
