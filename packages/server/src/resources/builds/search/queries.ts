import { sql, type RawBuilder } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import type { Db } from '../../../db/pool.ts'
import type { Wanted } from './rules.ts'
import { mostHits, mostHitsOfType, type HitType } from './schema.ts'

export interface HitRow {
  type: HitType
  title: string
  subtitle: string | null
  /** The address of its page within the installation. */
  path: string
}

/** The kinds of hits that the caller's token may read. */
interface Readable {
  pipelines: boolean
  builds: boolean
  agents: boolean
  clusters: boolean
}

/** What equals the text first, then what begins with it, then what contains it. */
export async function search(
  db: Db,
  org: Organization,
  caller: Caller,
  wanted: Wanted,
  readable: Readable,
): Promise<HitRow[]> {
  const isVisible = visiblePipelines(org, caller)
  const parts = [
    ...(readable.builds && wanted.commit !== null ? [buildsOfCommit(org, isVisible, wanted.commit)] : []),
    ...(readable.builds && wanted.buildNumber !== null
      ? [buildsOfNumber(org, isVisible, wanted.buildNumber)]
      : []),
    ...(readable.pipelines ? [pipelinesNamed(org, isVisible, wanted.text)] : []),
    ...(readable.clusters ? [clustersNamed(org, wanted.text), queuesNamed(org, wanted.text)] : []),
    ...(readable.agents ? [agentsNamed(org, wanted.text)] : []),
  ]
  if (parts.length === 0) return []
  const ranked = parts.map(
    (part, index) => sql`
      (select *, ${sql.lit(index)} as part, row_number() over () as place from (${part}) found)`,
  )
  const { rows } = await sql<HitRow>`
    select type, title, subtitle, path from (${sql.join(ranked, sql` union all `)}) hits
    order by rank, part, place limit ${sql.lit(mostHits)}`.execute(db)
  return rows
}

const contains = (column: string, text: string): RawBuilder<boolean> =>
  sql`strpos(lower(${sql.ref(column)}), lower(${text}::text)) > 0`

const rank = (column: string, text: string): RawBuilder<number> => sql`
  case strpos(lower(${sql.ref(column)}), lower(${text}::text))
    when 0 then 3 when 1 then case when length(${sql.ref(column)}) = length(${text}::text) then 0 else 1 end else 2 end`

const most = sql.lit(mostHitsOfType)

const pipelinesNamed = (org: Organization, isVisible: RawBuilder<boolean>, text: string) => sql`
  select 'pipeline' as type, p.name as title,
    case when p.archived_at is null then p.slug else p.slug || ', archived' end as subtitle,
    ${`/${org.slug}/`}::text || p.slug as path,
    least(${rank('p.name', text)}, ${rank('p.slug', text)}) as rank
  from pipelines p
  where p.organization_id = ${org.id} and ${isVisible}
    and (${contains('p.name', text)} or ${contains('p.slug', text)})
  order by p.archived_at is not null, rank, p.name limit ${most}`

const buildPath = (org: Organization) => sql`${`/${org.slug}/`}::text || p.slug || '/builds/' || b.number`

const firstLine = sql`left(split_part(b.message, chr(10), 1), 200)`

/** One index probe for each pipeline. */
const buildsOfNumber = (org: Organization, isVisible: RawBuilder<boolean>, number: number) => sql`
  select 'build' as type, p.name || ' #' || b.number as title, ${firstLine} as subtitle,
    ${buildPath(org)} as path, 0 as rank
  from pipelines p join builds b on b.pipeline_id = p.id and b.number = ${number}
  where p.organization_id = ${org.id} and b.organization_id = ${org.id} and ${isVisible}
  order by b.created_at desc, b.id desc limit ${most}`

/** Read backwards from the index of commits, so builds of one commit are newest first. */
const buildsOfCommit = (org: Organization, isVisible: RawBuilder<boolean>, digits: string) => sql`
  select 'commit' as type, left(b.commit, 10) || ' in ' || p.name || ' #' || b.number as title,
    ${firstLine} as subtitle, ${buildPath(org)} as path, 0 as rank
  from builds b join pipelines p on p.id = b.pipeline_id
  where b.organization_id = ${org.id} and p.organization_id = ${org.id}
    and b.commit >= ${digits} and b.commit < ${`${digits}g`} and starts_with(b.commit, ${digits}) and ${isVisible}
  order by b.commit desc, b.created_at desc, b.id desc limit ${most}`

const clusterPath = (org: Organization) => sql`${`/organizations/${org.slug}/clusters/`}::text`

const clustersNamed = (org: Organization, text: string) => sql`
  select 'cluster' as type, c.name as title, nullif(left(c.description, 200), '') as subtitle,
    ${clusterPath(org)} || c.id as path, ${rank('c.name', text)} as rank
  from clusters c
  where c.organization_id = ${org.id} and ${contains('c.name', text)}
  order by rank, c.name, c.id limit ${most}`

const queuesNamed = (org: Organization, text: string) => sql`
  select 'queue' as type, q.key as title, c.name as subtitle,
    ${clusterPath(org)} || c.id || '/queues/' || q.id as path, ${rank('q.key', text)} as rank
  from cluster_queues q join clusters c on c.id = q.cluster_id
  where q.organization_id = ${org.id} and ${contains('q.key', text)}
  order by rank, q.key, q.id limit ${most}`

/** Connected ones; the literals let PostgreSQL use their partial index. */
const agentsNamed = (org: Organization, text: string) => sql`
  select 'agent' as type, a.name as title, nullif(a.hostname, '') as subtitle,
    ${clusterPath(org)} || a.cluster_id || coalesce('/queues/' || a.queue_id, '') || '/agents/' || a.id as path,
    ${rank('a.name', text)} as rank
  from agents a
  where a.organization_id = ${org.id} and a.connection_state in ('connected', 'stopping')
    and ${contains('a.name', text)}
  order by rank, a.name, a.id limit ${most}`
