// What an agent gets to know of a job that it accepts.
import { sql } from 'kysely'
import type { CommandStep } from '@millrace/engine/steps/types.ts'
import type { ScriptWork } from '@millrace/engine/work.ts'
import type { Job, JobStep } from '@millrace/protocol/jobs.ts'
import { environmentOf } from '../conductor/environment.ts'
import type { Context } from '../context.ts'
import { prepared } from '../db/prepared.ts'

const chunkBytes = 100 * 1024

export async function jobAnswer(
  ctx: Context,
  organizationId: string,
  jobId: string,
  token: string,
): Promise<Job> {
  const [{ work, definition, priority, runnableAt, hasCredentials }, env] = await Promise.all([
    getDetails(ctx, organizationId, jobId),
    environmentOf(ctx, organizationId, jobId),
  ])
  return {
    id: jobId,
    token,
    env: { ...(hasCredentials ? askingForCredentials : {}), ...env },
    chunks_max_size_bytes: chunkBytes,
    chunks_interval_seconds: 1,
    log_max_size_bytes: ctx.config.logMaxBytes,
    step: stepAnswer(work, definition),
    ...(work.matrix === null ? {} : { matrix_permutation: permutation(work.matrix) }),
    ...(runnableAt === null ? {} : { runnable_at: runnableAt }),
    priority,
  }
}

/** Has git ask the server, when the repository asks who it is; under the name it has now, and the one it had. */
const askingForCredentials = {
  BUILDKITE_USE_REPOSITORY_PROVIDER_GIT_CREDENTIALS: 'true',
  BUILDKITE_USE_GITHUB_APP_GIT_CREDENTIALS: 'true',
}

interface Details {
  work: ScriptWork
  definition: CommandStep
  priority: number
  runnableAt: string | null
  hasCredentials: boolean
}

async function getDetails({ db }: Context, organizationId: string, jobId: string): Promise<Details> {
  const [details] = await findDetails(db, organizationId, jobId)
  if (details === undefined) throw new Error('A job vanished while it was accepted.')
  return details
}

const findDetails = prepared(
  (organizationId: string, jobId: string) => sql<Details>`
    select j.work, s.definition, j.priority, j.runnable_at as "runnableAt", exists (
        select from pipelines p join repository_connections c
          on c.organization_id = p.organization_id and c.host = p.repository_host
        where p.id = j.pipeline_id and p.repository ilike 'https://%' and c.private_key_sealed is not null
      ) as "hasCredentials"
    from jobs j join build_steps s on s.id = j.step_id
    where j.organization_id = ${organizationId} and j.id = ${jobId}`,
)

/**
 * The step as its author wrote it, before the matrix is filled in: that is what a signature is about. The agent
 * refuses keys that are null.
 */
function stepAnswer({ secrets, cache }: ScriptWork, step: CommandStep): JobStep {
  const secretList = Object.entries(secrets).map(([variable, key]) => ({
    key,
    environment_variable: variable,
  }))
  return {
    ...(step.command === null ? {} : { command: step.command }),
    env: { ...step.env },
    ...(step.plugins.length === 0
      ? {}
      : { plugins: step.plugins.map(({ source, config }) => ({ [source]: config ?? null })) }),
    ...(secretList.length === 0 ? {} : { secrets: secretList }),
    ...(cache === null
      ? {}
      : { cache: { ...(cache.name === null ? {} : { name: cache.name }), paths: cache.paths } }),
    ...(step.signature === null ? {} : signed(step, step.signature)),
  }
}

/** The matrix is sent along only where a signature covers it. */
const signed = (
  step: CommandStep,
  { algorithm, signedFields, value }: NonNullable<CommandStep['signature']>,
) => ({
  ...(step.matrix === null ? {} : { matrix: matrixAnswer(step.matrix) }),
  signature: { algorithm, signed_fields: [...signedFields], value },
})

function matrixAnswer({ dimensions, adjustments }: NonNullable<CommandStep['matrix']>): unknown {
  const names = dimensions.map(({ name }) => name)
  const byName = (values: ReadonlyArray<unknown>) =>
    names[0] === null ? values[0] : Object.fromEntries(names.map((name, index) => [name, values[index]]))
  return {
    setup: byName(dimensions.map(({ values }) => values)),
    ...(adjustments.length === 0
      ? {}
      : {
          adjustments: adjustments.map(({ with: values, skip, softFail }) => ({
            with: byName(values),
            ...(skip === false ? {} : { skip }),
            ...(softFail === null ? {} : { soft_fail: softFail }),
          })),
        }),
  }
}

const permutation = (matrix: NonNullable<ScriptWork['matrix']>): Record<string, string> =>
  typeof matrix === 'string' ? { '': matrix } : { ...matrix }
