// The names of the connections of servers and workers, by which PostgreSQL tells the processes apart. Commands have another.
import { hostname } from 'node:os'

export const serverNamePrefix = 'millrace server'

/** PostgreSQL cuts longer names. */
const longestHost = 24

/** `millrace server api,worker 0.1.0 1234@host` */
export const serverName = (roles: readonly string[], version: string): string =>
  `${serverNamePrefix} ${roles.join(',')} ${version} ${process.pid}@${hostname().slice(0, longestHost)}`

export function readServerName(name: string): { id: string; roles: string[]; version: string | null } {
  const [roles = '', version = null, id = 'Unknown'] = name
    .slice(serverNamePrefix.length)
    .split(' ')
    .filter(Boolean)
  return { id, roles: roles.split(',').filter(Boolean), version }
}
