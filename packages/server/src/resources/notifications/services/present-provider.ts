import type { Static } from 'typebox'
import { hasFeature, type Organization } from '../../../auth/caller.ts'
import type { Context } from '../../../context.ts'
import { isOAuthProvider } from '../../../config/outbound.ts'
import type { Field } from '../../../notifications/provider.ts'
import { describeField } from '../../../notifications/providers/describe-field.ts'
import type { NamedProvider } from '../../../notifications/providers/other-names.ts'
import { findSender } from '../../../notifications/providers/table.ts'
import type { NotificationProvider } from './provider-schema.ts'

type Shown = Static<typeof NotificationProvider>

/** Without settings that the organization does not have. */
export function presentProvider(
  config: Pick<Context['config'], 'url' | 'oauth'>,
  org: Organization,
  { name, provider, fields }: NamedProvider,
): Shown {
  const has = ({ feature }: Pick<Field, 'feature'>) => feature === undefined || hasFeature(org, feature)
  const isConnectable = isOAuthProvider(provider.id) && config.oauth[provider.id] !== null
  return {
    id: name,
    same_as: name === provider.id ? null : provider.id,
    name: provider.name,
    summary: provider.summary,
    is_available: has(provider) && (provider.madeBy === 'rest' || isConnectable),
    connect_url: isConnectable ? `${config.url}/organizations/${org.slug}/services/connect` : null,
    made_by: provider.madeBy,
    selects_by: provider.selectsBy,
    sends: findSender(provider.id) !== undefined,
    settings: Object.entries(fields)
      .filter(([, field]) => has(field))
      .map(([key, field]) => presentSetting(key, field)),
  }
}

function presentSetting(name: string, field: Field): Shown['settings'][number] {
  const isSecret = field.isSecret ?? false
  return {
    name,
    label: field.label,
    ...describeField(field),
    is_required: field.isRequired ?? false,
    // A secret differs for each service.
    initial: isSecret ? null : (field.initial?.() ?? null),
    is_generated: isSecret && field.initial !== undefined,
    is_secret: isSecret,
    shown: field.shown,
    is_address: field.isAddress ?? false,
    is_fixed: field.isFixed ?? false,
  }
}
