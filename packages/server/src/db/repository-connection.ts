// Which connection to a source host belongs to a repository: that of its host name and port. Addresses of ssh, and those of a port
// that no connection has, belong to the oldest connection of the host name.
import { sql } from 'kysely'

/** Its id, for the repository of pipeline `p`. */
export const connectionOfPipeline = sql`(
  select oc.id from repository_connections oc
  where oc.organization_id = p.organization_id and oc.host = p.repository_host
  order by (oc.port = p.repository_port) is true desc, oc.created_at, oc.id limit 1)`
