import { compileGlob } from '@millrace/engine/globs.ts'
import { patternsIn } from '@millrace/engine/steps/attributes/test-results.ts'
import type { FieldError } from '../../../lib/errors.ts'
import type { PipelineFields } from './queries.ts'
import type { UpdatePipelineBody } from './schema.ts'

const longestSlug = 100

/** `My  App (v2)` to `my-app-v2`; empty when the name has no letter or digit of the Latin alphabet. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, longestSlug)
    .replace(/-$/, '')

const booleans = ['skip_queued_branch_builds', 'cancel_running_branch_builds', 'allow_rebuilds'] as const
const emptyIsNull = [
  'branch_configuration',
  'skip_queued_branch_builds_filter',
  'cancel_running_branch_builds_filter',
  'clone_mirror_url',
  'junit_artifacts',
  'emoji',
  'color',
] as const
const numbers = [
  'default_command_step_timeout',
  'maximum_command_step_timeout',
  'poll_interval_seconds',
] as const

/** The columns that a body sets directly, without a lookup or a cross-check. */
export function readPlainFields(body: UpdatePipelineBody): Partial<PipelineFields> {
  const given = <Key extends keyof UpdatePipelineBody, Value>(
    keys: readonly Key[],
    read: (value: NonNullable<UpdatePipelineBody[Key]> | null) => Value,
  ) => keys.flatMap((key) => (body[key] === undefined ? [] : [[key, read(body[key] ?? null)] as const]))
  return Object.fromEntries([
    ...given(['name', 'repository', 'visibility', ...booleans], (value) => value),
    // 0 minutes are none.
    ...given(numbers, (value) => value || null),
    ...given(emptyIsNull, (value) => value || null),
    ...given(['description'], (value) => value ?? ''),
    ...given(['tags'], (value) => value ?? []),
  ]) as Partial<PipelineFields>
}

/** Numbers and booleans become texts. */
export const readEnv = (env: UpdatePipelineBody['env']): Record<string, string> =>
  Object.fromEntries(Object.entries(env ?? {}).map(([name, value]) => [name, String(value ?? '')]))

export function checkTimeouts(fields: PipelineFields): FieldError[] {
  const { default_command_step_timeout: usual, maximum_command_step_timeout: most } = fields
  if (usual === null || most === null || usual <= most) return []
  return [{ field: 'default_command_step_timeout', code: 'must not exceed maximum_command_step_timeout' }]
}

export function checkJunitArtifacts(patterns: string | null): FieldError[] {
  const malformed = patternsIn(patterns ?? '').find((pattern) => compileGlob(pattern) === null)
  if (malformed === undefined) return []
  return [{ field: 'junit_artifacts', code: `has the malformed pattern "${malformed}"` }]
}

/** Agents clone from this URL, so it must not carry credentials or a query. */
export function checkMirrorUrl(text: string | null): FieldError[] {
  if (text === null) return []
  const code = mirrorProblem(text)
  return code === null ? [] : [{ field: 'clone_mirror_url', code }]
}

function mirrorProblem(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['https:', 'http:', 'ssh:', 'git:'].includes(url.protocol) || url.hostname === '') {
    return 'must be a URL such as https://git.example.com/app.git'
  }
  // The `git` in `ssh://git@host/` is a shared account, not a credential.
  const hasCredentials = url.password !== '' || (url.username !== '' && url.protocol !== 'ssh:')
  if (hasCredentials) return 'must not contain credentials'
  return url.search === '' && url.hash === '' && !/[?#]/.test(text)
    ? null
    : 'must not contain a query or a fragment'
}

/** The webhook that was created at the host of the present repository; null: none, or not by us. */
export const webhookIdOf = (pipeline: {
  repository: string
  host_webhook_id: string | null
  host_webhook_repository: string | null
}): string | null =>
  pipeline.host_webhook_repository === pipeline.repository ? pipeline.host_webhook_id : null
