// What a failed job said elsewhere than in its log: in the annotations with the style `error` that it wrote last, and in the messages of its failed tests.
import { sql } from 'kysely'
import type { Db } from '../../../../db/pool.ts'
import { annotationText } from './annotation-text.ts'
import { cutText, plainText } from '../screen/plain-text.ts'
import { mostLineCharacters } from './telling-lines.ts'

/** Where the lines are. `at`: they are those of the annotation as of then. */
export type Source =
  | { kind: 'annotation'; id: string; at: string }
  | { kind: 'test_failure'; id: string; run_id: string }

export interface Said {
  source: Source
  lines: string[]
}

const mostAnnotations = 20
const mostAnnotationBody = 8000
const mostTests = 200
const mostExpanded = 64 * 1024

/** Of all annotations together, and of all tests. */
const mostCharacters = 16_000

export async function readSaid(db: Db, orgId: string, jobId: string): Promise<Said[]> {
  const annotations = await readErrorAnnotations(db, orgId, jobId)
  const tests = await listFailedTests(db, orgId, jobId)
  return [
    ...annotations,
    ...fit(
      tests.map(({ id, run_id, scope, name, failure_reason: reason, failure_expanded: details }) => ({
        source: { kind: 'test_failure', id, run_id },
        lines: linesOf([
          `${scope} ${name}`.trim(),
          reason ?? '',
          ...details.flatMap(({ expanded = [] }) => expanded),
        ]),
      })),
    ),
  ]
}

/** Also of a job that passed: it may report what others did. */
export async function readErrorAnnotations(db: Db, orgId: string, jobId: string): Promise<Said[]> {
  const annotations = await listErrorAnnotations(db, orgId, jobId)
  return fit(
    annotations.map(({ id, at, body }) => ({
      source: { kind: 'annotation', id, at },
      lines: linesOf([annotationText(body)]),
    })),
  )
}

interface AnnotationRow {
  id: string
  at: string
  body: string
}

async function listErrorAnnotations(db: Db, orgId: string, jobId: string): Promise<AnnotationRow[]> {
  const { rows } = await sql<AnnotationRow>`
    select a.id, a.updated_at as at, left(a.body, ${mostAnnotationBody}) as body from annotations a
    where a.organization_id = ${orgId} and a.writer_job_id = ${jobId} and a.style = 'error'
      and a.build_id = (select j.build_id from jobs j where j.id = ${jobId})
    order by a.priority desc, a.created_at, a.id limit ${mostAnnotations}`.execute(db)
  return rows
}

interface FailedTestRow {
  id: string
  run_id: string
  scope: string
  name: string
  failure_reason: string | null
  failure_expanded: Array<{ expanded?: string[] }>
}

/** A sender may name any job, so only runs of the job's own build count. */
async function listFailedTests(db: Db, orgId: string, jobId: string): Promise<FailedTestRow[]> {
  const { rows } = await sql<FailedTestRow>`
    select t.id, t.run_id, left(t.scope, ${mostLineCharacters}) as scope, left(t.name, ${mostLineCharacters}) as name,
      left(t.failure_reason, ${mostCharacters}) as failure_reason,
      case when pg_column_size(t.failure_expanded) < ${mostExpanded} then t.failure_expanded else '[]' end as failure_expanded
    from jobs j join test_results t on t.job_id = j.id and t.result = 'failed' and t.job_id is not null
      join test_runs r on r.id = t.run_id and r.organization_id = j.organization_id and r.build_id = j.build_id
    where j.organization_id = ${orgId} and j.id = ${jobId}
    order by t.created_at, t.id limit ${mostTests}`.execute(db)
  return rows
}

/** A message is often repeated in the details. */
const linesOf = (texts: readonly string[]): string[] => [
  ...new Set(
    texts
      .flatMap((text) => text.slice(0, mostCharacters).split('\n'))
      .map((line) => cutText(plainText(line).trim(), mostLineCharacters))
      .filter((line) => line !== ''),
  ),
]

/** Each source has the same room, so no test hides another. */
function fit(all: readonly Said[]): Said[] {
  const room = mostCharacters / Math.max(all.length, 1)
  return all.flatMap(({ source, lines: [first = '', ...others] }) => {
    const lines = [cutText(first, room)]
    let characters = first.length
    for (const line of others) if ((characters += line.length + 1) <= room) lines.push(line)
    return first === '' ? [] : [{ source, lines }]
  })
}
