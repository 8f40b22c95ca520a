import { sql } from 'kysely'
import { childQueries } from '../../child-queries.ts'

export interface MaintainerRow {
  id: string
  user: { id: string; name: string; email: string } | null
  team: { id: string; name: string; slug: string } | null
}

const select = sql`
  select m.id,
    case when u.id is not null then json_build_object('id', u.id, 'name', u.name, 'email', u.email) end as "user",
    case when t.id is not null then json_build_object('id', t.id, 'name', t.name, 'slug', t.slug) end as team
  from cluster_maintainers m left join users u on u.id = m.user_id left join teams t on t.id = m.team_id`

export const {
  get: getInCluster,
  list: listInCluster,
  delete: deleteInCluster,
} = childQueries<MaintainerRow>({
  table: 'cluster_maintainers',
  alias: 'm',
  select,
  parent: 'cluster_id',
  missing: 'No maintainer found',
})
