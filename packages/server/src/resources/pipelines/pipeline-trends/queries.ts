import { sql, type RawBuilder } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import { isPreflight } from '../../../db/preflight.ts'
import { bare, fieldWhere, object, text, word, type JsonText } from '../../../db/json-text.ts'
import type { Db } from '../../../db/pool.ts'

/** How many builds of each 30 days count, so that a busy pipeline costs no more than this. */
const mostBuilds = sql.lit(250)

/** The time that it ran, without the time between its end and a retry. */
const seconds = sql`(extract(epoch from b.finished_at - b.started_at) + b.worked_seconds::numeric)`

const build = object({
  number: bare(sql`b.number`),
  state: word(sql`b.shown_state`),
  blocked: bare(sql`b.state = 'blocked'`),
  seconds: bare(sql`round(${seconds}, 3)`),
  created_at: bare(sql`(extract(epoch from b.created_at) * 1000)::bigint`),
  message: text(sql`left(b.message, 200)`),
  branch: text(sql`b.branch`),
})

const pipeline = (caller: Caller) =>
  object({
    name: text(sql`p.name`),
    emoji: text(sql`p.emoji`),
    color: text(sql`p.color`),
    tags: bare(sql`to_json(p.tags)`),
    favorite: bare(
      sql`exists (select from favorites f where f.organization_id = p.organization_id and f.user_id = ${caller.user.id} and f.pipeline_id = p.id)`,
    ),
  })

const trend = (more: JsonText) =>
  object(
    {
      pipeline_id: word(sql`p.id`),
      pipeline_slug: word(sql`p.slug`),
      builds: sql`(
    select concat('[', string_agg(${build}, ',' order by b.created_at, b.id), ']') from (
      select * from builds b where b.pipeline_id = p.id and not ${isPreflight}
      order by b.created_at desc, b.id desc limit 30) b)`,
      median_seconds: bare(sql`round(recent.median::numeric, 3)`),
      median_change: bare(sql`round((recent.median / nullif(earlier.median, 0) - 1)::numeric, 4)`),
      reliability: bare(sql`round(recent.passed::numeric / nullif(recent.passed + recent.failed, 0), 4)`),
      running: bare(
        sql`coalesce((select sum(t.running_builds) from pipeline_tallies t where t.pipeline_id = p.id), 0)`,
      ),
    },
    more,
  )

/** For queries with `pipelines p`: the median and the results of its builds that were created between these times. */
const statistics = (from: string, to: string): RawBuilder<unknown> => sql`(
  select count(*) filter (where b.shown_state = 'passed') as passed,
    count(*) filter (where b.shown_state = 'failed') as failed,
    percentile_cont(0.5) within group (order by ${seconds}) filter (
      where b.shown_state = 'passed' and b.started_at is not null) as median
  from (
    select * from builds b where b.pipeline_id = p.id and b.created_at >= ${from} and b.created_at < ${to} and not ${isPreflight}
    order by b.created_at desc, b.id desc limit ${mostBuilds}) b)`

const dayMs = 24 * 60 * 60 * 1000

type Choice = { slugs: readonly string[] } | { limit: number; offset: number }

/** One JSON text for each pipeline that the caller may read, oldest pipeline first. Without archived ones unless named. */
export async function listTrends(
  db: Db,
  org: Organization,
  caller: Caller,
  now: Date,
  choice: Choice & { includePipeline: boolean | undefined },
): Promise<string[]> {
  const daysAgo = (days: number) => new Date(now.getTime() - days * dayMs).toISOString()
  const chosen =
    'slugs' in choice
      ? sql`p.slug = any (${choice.slugs}::text[]) order by p.created_at, p.id`
      : sql`p.archived_at is null order by p.created_at, p.id limit ${choice.limit} offset ${choice.offset}`
  const { rows } = await sql<{ trend: string }>`
    select ${trend(fieldWhere(sql.lit(choice.includePipeline === true), 'pipeline', pipeline(caller)))} as trend
    from (
      select p.id, p.slug, p.created_at, p.organization_id, p.name, p.emoji, p.color, p.tags from pipelines p
      where p.organization_id = ${org.id} and ${visiblePipelines(org, caller)} and ${chosen}
    ) p
    cross join lateral ${statistics(daysAgo(30), new Date(now.getTime() + dayMs).toISOString())} recent
    cross join lateral ${statistics(daysAgo(60), daysAgo(30))} earlier
    order by p.created_at, p.id`.execute(db)
  return rows.map((row) => row.trend)
}
