// The rules of the spec for the fields of a service, as far as they need no database.
import { isDeepStrictEqual } from 'node:util'
import type { TSchema } from 'typebox'
import { hasFeature, type Organization } from '../../../auth/caller.ts'
import { checker, type Check } from '../../../lib/check.ts'
import { forbidden, validationFailed } from '../../../lib/errors.ts'
import { mask } from '../../../lib/masks.ts'
import { buildStateNames, providerIds, type BuildStateName } from '../../../notifications/names.ts'
import { findProvider, type NamedProvider } from '../../../notifications/providers/other-names.ts'
import type { Field, Provider, Settings } from '../../../notifications/provider.ts'
import type { CreateServiceBody, UpdateServiceBody } from './schema.ts'

const createKeys = new Set([
  'provider',
  'description',
  'branch_configuration',
  'scope',
  'scope_uuids',
  'build_states',
  'settings',
])

/** Spec, Create notification service: unknown and read-only fields are refused. */
export function refuseUnknownKeys(body: object, shown: Readonly<Record<string, unknown>> | null): void {
  for (const key of Object.keys(body)) {
    if (createKeys.has(key)) continue
    const sent: unknown = Reflect.get(body, key)
    const isShown = shown === null ? readOnlyKeys.has(key) : key in shown
    if (!isShown) throw validationFailed(`${key.slice(0, 60)} is not a field of a notification service`)
    // Rule 6: values from a response may be sent back.
    if (shown === null || !isDeepStrictEqual(shown[key], sent)) throw validationFailed(readOnly(key))
  }
}

const readOnlyKeys = new Set([
  'id',
  'graphql_id',
  'url',
  'enabled',
  'broken_at',
  'broken_reason',
  'created_at',
  'created_by',
])

const readOnly = (key: string) =>
  key === 'enabled' ? 'enabled is read-only; use the enable and disable operations' : `${key} is read-only`

export function readProvider(org: Organization, { provider: name }: CreateServiceBody): NamedProvider {
  const named = findProvider(name)
  if (named === undefined) throw validationFailed(`provider must be one of ${providerIds.join(', ')}`)
  const { provider } = named
  if (provider.madeBy === 'web') {
    throw validationFailed(
      `provider ${name} cannot be created here; connect it through the web interface, then change it here`,
    )
  }
  if (provider.feature !== undefined && !hasFeature(org, provider.feature)) {
    throw validationFailed(`provider ${name} is not available to this organization`)
  }
  return named
}

/** Rule 1. Responses show the provider as an object, which may be sent back. */
export function refuseOtherProvider(
  { name, provider }: NamedProvider,
  sent: UpdateServiceBody['provider'],
): void {
  const given = typeof sent === 'object' ? sent.id : sent
  if (given === undefined || findProvider(given)?.provider.id === provider.id) return
  throw validationFailed(`provider cannot be changed; it is ${name}`)
}

/** Who may not read the audit log may manage services, and may not send it somewhere. */
export function refuseAuditEvents({ role }: Organization, before: Settings, after: Settings): void {
  const isAsked = after['include_audit_events'] === true && before['include_audit_events'] !== true
  if (isAsked && role !== 'admin') throw forbidden('Only administrators may have audit events sent.')
}

export function readStates(
  before: readonly BuildStateName[],
  sent: CreateServiceBody['build_states'],
): BuildStateName[] {
  const unknown = Object.keys(sent ?? {}).find((key) => !buildStateNames.some((name) => name === key))
  if (unknown !== undefined) {
    throw validationFailed(
      `build_states.${unknown.slice(0, 60)} is not a state; there are ${buildStateNames.join(', ')}`,
    )
  }
  return buildStateNames.filter((name) => sent?.[name] ?? before.includes(name))
}

export function readNewSettings(org: Organization, provider: NamedProvider, sent: Settings = {}): Settings {
  const settings: Record<string, unknown> = {}
  for (const key of Object.keys(sent)) knownField(org, provider, key)
  for (const [key, field] of Object.entries(provider.fields)) {
    const value = sent[key] ?? field.initial?.() ?? null
    if (value === null) {
      if (field.isRequired) throw validationFailed(`settings.${key} is required`)
      continue
    }
    settings[key] = checked(key, field, value)
  }
  return settings
}

/** All settings after the update. */
export function readChangedSettings(
  org: Organization,
  provider: NamedProvider,
  service: { isConnected: boolean; settings: Settings },
  sent: Settings = {},
): Settings {
  const settings: Record<string, unknown> = { ...service.settings }
  for (const [key, value] of Object.entries(sent)) {
    const field = knownField(org, provider, key)
    const before = settings[key] ?? null
    if (isUnchanged(field, before, value)) continue
    if (value === null && field.isRequired) throw validationFailed(`settings.${key} must not be null`)
    const after = value === null ? null : checked(key, field, value)
    const refusal = field.refuseChange?.(before, after, service) ?? null
    if (refusal !== null) throw validationFailed(`settings.${key} ${refusal}`)
    if (after === null) delete settings[key]
    else settings[key] = after
  }
  refuseMovedSecrets(provider, service.settings, settings, sent)
  return settings
}

/** A caller who may change the address but not read a secret could otherwise have the secret sent to them. */
function refuseMovedSecrets(
  provider: NamedProvider,
  before: Settings,
  after: Settings,
  sent: Settings,
): void {
  const moved = Object.keys(provider.fields).find(
    (key) => provider.fields[key]?.isAddress && !isDeepStrictEqual(before[key] ?? null, after[key] ?? null),
  )
  if (moved === undefined) return
  for (const [key, field] of Object.entries(provider.fields)) {
    const isKept = field.isSecret && !field.isAddress && field.shown !== 'full' && before[key] !== undefined
    if (isKept && !isGiven(before[key], sent[key])) {
      throw validationFailed(
        `settings.${key} must be sent again when settings.${moved} changes: it goes only where it was meant for`,
      )
    }
  }
}

/** Null deletes the secret. A masked value does not count as the secret. */
const isGiven = (before: unknown, sent: unknown): boolean =>
  sent !== undefined && !(typeof before === 'string' && sent === mask(before))

/** Rule 6: the value itself, or as responses show it. */
const isUnchanged = (field: Field, before: unknown, sent: unknown) =>
  isDeepStrictEqual(before, sent) ||
  (field.shown === 'masked' && typeof before === 'string' && sent === mask(before))

function knownField(org: Organization, provider: NamedProvider, key: string): Field {
  const field = Object.hasOwn(provider.fields, key) ? provider.fields[key] : undefined
  if (field === undefined) {
    throw validationFailed(`settings.${key.slice(0, 60)} is not a setting of the provider ${provider.name}`)
  }
  if (field.feature !== undefined && !hasFeature(org, field.feature)) {
    throw validationFailed(`settings.${key} is not available to this organization`)
  }
  return field
}

function checked(key: string, field: Field, value: unknown): unknown {
  const outcome = checkOf(field)(value)
  if (!outcome.ok) {
    const inside = outcome.field === '' || outcome.field.startsWith('[') ? outcome.field : `.${outcome.field}`
    throw validationFailed(
      `settings.${key}${inside}${outcome.reason.replace(outcome.field || 'the body', '')}`,
    )
  }
  const refusal = field.refuse?.(value) ?? null
  if (refusal !== null) throw validationFailed(`settings.${key} ${refusal}`)
  return value
}

const checks = new Map<Field, Check<TSchema>>()

function checkOf(field: Field): Check<TSchema> {
  const check = checks.get(field) ?? checker(field.schema)
  checks.set(field, check)
  return check
}

export function splitSecrets(provider: Provider, settings: Settings): { plain: Settings; secrets: Settings } {
  const pick = (isSecret: boolean) =>
    Object.fromEntries(
      Object.entries(settings).filter(([key]) => (provider.fields[key]?.isSecret ?? false) === isSecret),
    )
  return { plain: pick(false), secrets: pick(true) }
}
