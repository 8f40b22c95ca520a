import { sql } from 'kysely'
import { bare, object, text, word } from '../../../db/json-text.ts'
import type { Db } from '../../../db/pool.ts'
import { jobsOfSteps, shortBuild, shortJob } from './short-json.ts'

/** For queries with `build_steps s`. */
export const stepObject = object({
  id: word(sql`s.id`),
  kind: word(sql`s.kind`),
  key: text(sql`s.key`),
  label: text(sql`left(s.definition ->> 'label', 300)`),
  group_id: word(sql`s.group_id`),
  parallelism: bare(sql`s.definition -> 'parallelism'`),
  matrix: bare(sql`coalesce(jsonb_typeof(s.definition -> 'matrix') <> 'null', false)`),
  command: text(sql`left(s.definition ->> 'command', 300)`),
})

/**
 * The graph of a build as JSON text. It is one statement, so that the cursor is the snapshot in which everything else was
 * read. undefined: there is no such build.
 */
export async function findGraph(
  db: Db,
  orgId: string,
  pipelineSlug: string,
  build: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ graph: string }>`
    select ${object({
      cursor: word(sql`pg_current_snapshot()`),
      build: shortBuild,
      steps: sql`(
        select concat('[', string_agg(${stepObject}, ',' order by s.position), ']') from build_steps s where s.build_id = b.id)`,
      edges: sql`(
        select concat('[', string_agg(format('["%s","%s"]', e.from_step, e.to_step), ','), ']')
        from (
          select distinct e.from_step, e.to_step
          from build_steps s join build_edges e on e.to_step = s.id where s.build_id = b.id) e)`,
      jobs: sql`(
        select concat('[', string_agg(listed.job, ','), ']') from (
          select ${shortJob} as job from ${jobsOfSteps}
          where j.build_id = b.id order by j.position, j.created_at, j.id) listed)`,
    })} as graph
    from pipelines p join builds b on b.pipeline_id = p.id
    where p.organization_id = ${orgId} and p.slug = ${pipelineSlug} and b.number = ${build}::int`.execute(db)
  return rows[0]?.graph
}
