// The answer to an agent that accepts a job.
import type { CommandStep } from '@millrace/engine/steps/types.ts'
import type { ScriptWork } from '@millrace/engine/work.ts'
import type { Job, JobStep } from '@millrace/protocol/jobs.ts'
import type { Env } from '@millrace/engine/environment.ts'
import { findCommand, type Command } from '../../conductor/environment.ts'
import { isUntrusted } from '../../conductor/trust.ts'
import type { Context } from '../../context.ts'
import { checkoutAnswer } from './checkout-answer.ts'
import { joinUserinfo, withoutUserinfo } from '../../lib/userinfo.ts'

const chunkBytes = 100 * 1024
/** A chunk that does not compress is still below 1 MB, which many proxies accept at most. */
const largeChunkBytes = 512 * 1024

export async function jobAnswer(
  ctx: Context,
  organizationId: string,
  jobId: string,
  token: string,
): Promise<Job> {
  const command = await findCommand(ctx, organizationId, jobId)
  if (command === null) throw new Error('A job that runs no command was accepted.')
  const { work, definition, priority, runnableAt, buildId } = command
  const isFromFork = command.mayBeUntrusted && (await isUntrusted(ctx.db, organizationId, [buildId]))
  const env = isFromFork ? withPlainAddress(command.env) : withUserinfo(ctx, command)
  const checkout = checkoutAnswer({ ...command, env }, { url: ctx.config.url, jobId, isFromFork })
  return {
    id: jobId,
    token,
    ...checkout,
    chunks_max_size_bytes: chunkBytes,
    large_chunks_max_size_bytes: largeChunkBytes,
    chunks_interval_seconds: 1,
    takes_last_chunk: true,
    log_max_size_bytes: ctx.config.logMaxBytes,
    step: stepAnswer(work, definition),
    ...(work.matrix === null ? {} : { matrix_permutation: permutation(work.matrix) }),
    ...(runnableAt === null ? {} : { runnable_at: runnableAt }),
    priority,
    ...(isFromFork ? { from_fork: true } : {}),
  }
}

/** Adds the repository's name and password, but only for the host they were stored for. */
function withUserinfo({ keys }: Context, { env, repository, userinfo }: Command): Env {
  const address = env['BUILDKITE_REPO']
  if (userinfo === null || address === undefined || placeOf(address) !== placeOf(repository)) return env
  const opened = keys.open(Buffer.from(userinfo.sealed, 'base64'), userinfo.keyId)
  return { ...env, BUILDKITE_REPO: joinUserinfo(address, opened) }
}

/** Forks get no password: the agent fetches with its own credentials, or without. */
const withPlainAddress = (env: Env): Env =>
  env['BUILDKITE_REPO'] === undefined
    ? env
    : { ...env, BUILDKITE_REPO: withoutUserinfo(env['BUILDKITE_REPO']) }

const placeOf = (address: string): string | null => {
  const url = URL.canParse(address) ? new URL(address) : null
  return url === null ? null : `${url.protocol}//${url.host}`
}

/**
 * The step as its author wrote it, before the matrix is filled in, because a signature covers that. The agent refuses
 * keys that are null.
 */
function stepAnswer({ secrets, cache, testResults }: ScriptWork, step: CommandStep): JobStep {
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
    ...(testResults === undefined ? {} : { test_results: [...testResults] }),
    ...(step.signature === null ? {} : signed(step, step.signature)),
  }
}

/**
 * The fields that a signature covers are sent as written; the matrix and the checkout only where there is a signature.
 * Secrets of the whole pipeline are not in the step, so they make the signature invalid.
 */
const signed = (
  step: CommandStep,
  { algorithm, signedFields, value, asWritten = {} }: NonNullable<CommandStep['signature']>,
) => ({
  ...(step.matrix === null ? {} : { matrix: asWritten.matrix ?? matrixAnswer(step.matrix) }),
  ...(asWritten.checkout === undefined ? {} : { checkout: asWritten.checkout }),
  ...(asWritten.secrets?.length === Object.keys(step.secrets).length && asWritten.secrets.length > 0
    ? { secrets: asWritten.secrets as JobStep['secrets'] & object }
    : {}),
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
