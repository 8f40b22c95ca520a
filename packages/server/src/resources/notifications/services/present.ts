import type { Static } from 'typebox'
import { hasFeature, type Organization } from '../../../auth/caller.ts'
import { graphqlId } from '../../../lib/ids.ts'
import { mask } from '../../../lib/masks.ts'
import { buildStateNames } from '../../../notifications/names.ts'
import { providerOf, toShown, type NamedProvider } from '../../../notifications/providers/other-names.ts'
import type { Field, Settings } from '../../../notifications/provider.ts'
import { presentUserOrNull } from '../../people/user/present.ts'
import type { NotificationService } from './response-schema.ts'
import type { ServiceRow } from './queries.ts'

export const serviceUrl = (url: string, orgSlug: string, id: string): string =>
  `${url}/v2/organizations/${orgSlug}/services/${id}`

/** `settings` with decrypted secrets. */
export function presentService(
  url: string,
  org: Organization,
  service: ServiceRow,
  settings: Settings,
): Static<typeof NotificationService> {
  const named = providerOf(service)
  const { name: id, provider } = named
  return {
    id: service.id,
    graphql_id: provider.graphqlType === null ? null : graphqlId(provider.graphqlType, service.id),
    url: serviceUrl(url, org.slug, service.id),
    provider: { id, name: provider.name },
    description: service.description,
    enabled: isEnabled(service),
    broken_at: service.broken_at,
    broken_reason: service.broken_reason,
    scope: service.scope,
    scope_uuids: service.scope_uuids,
    branch_configuration: service.branch_configuration,
    build_states: {
      build_passed: false,
      build_fixed: false,
      build_failed: false,
      build_blocked: false,
      build_canceled: false,
      build_failing: false,
      job_activated: false,
      ...Object.fromEntries(buildStateNames.map((name) => [name, service.build_states.includes(name)])),
    },
    settings: presentSettings(org, named, toShown(named, settings)),
    created_at: service.created_at,
    created_by: presentUserOrNull(url, service.created_by),
  }
}

export const isEnabled = ({ disabled_at: disabled, broken_at: broken }: ServiceRow): boolean =>
  disabled === null && broken === null

function presentSettings(org: Organization, { fields }: NamedProvider, settings: Settings): Settings {
  const shown = Object.entries(fields).filter(
    ([, { shown: how, feature }]) => how !== 'never' && (feature === undefined || hasFeature(org, feature)),
  )
  return Object.fromEntries(shown.map(([key, field]) => [key, presentValue(field, settings[key])]))
}

function presentValue({ shown }: Field, value: unknown): unknown {
  return shown === 'masked' && typeof value === 'string' ? mask(value) : (value ?? null)
}
