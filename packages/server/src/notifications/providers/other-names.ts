// Other names of providers, by which public clients know them. A service is shown with the names it was created with; what is
// stored has the provider's own.
import { isProviderId, providerIds, type ProviderId } from '../names.ts'
import type { Provider, Settings } from '../provider.ts'
import { providers } from './table.ts'

interface OtherName {
  provider: ProviderId
  /** Settings that have another name too: the other name and our own. */
  settings?: Readonly<Record<string, string>>
}

const otherNames: Readonly<Record<string, OtherName>> = {
  aws_event_bridge: {
    provider: 'cloud_event_bus',
    settings: { aws_region: 'cloud_region', aws_account_id: 'cloud_account_id' },
  },
  datadog_pipeline_visibility: {
    provider: 'monitoring_pipeline_visibility',
    settings: { datadog_site: 'monitoring_site', datadog_tags: 'monitoring_tags' },
  },
  linear: { provider: 'issue_tracker' },
  slack: { provider: 'chat' },
  slack_workspace: { provider: 'chat_workspace' },
}

/** A provider as one of its names shows it. */
export interface NamedProvider {
  /** The name: that of the provider, or another. */
  name: string
  provider: Provider
  /** The fields, by the names of their settings. */
  fields: Provider['fields']
}

/** Other names whose settings have other names too, each with the title of its settings. */
export const providersWithOtherSettings = Object.entries(otherNames).flatMap(([name, { settings }]) => {
  const named = settings && findProvider(name)
  const title = name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return named ? [{ title, fields: named.fields }] : []
})

/** All providers by each of their names, the own name of each first. */
export const namedProviders = (): NamedProvider[] =>
  [...providerIds, ...Object.keys(otherNames)].flatMap((name) => findProvider(name) ?? [])

/** Undefined: no provider has this name. */
export function findProvider(name: string): NamedProvider | undefined {
  if (isProviderId(name)) {
    const provider = providers[name]
    return { name, provider, fields: provider.fields }
  }
  if (!Object.hasOwn(otherNames, name)) return undefined
  const other = otherNames[name]
  if (other === undefined) return undefined
  const provider = providers[other.provider]
  return { name, provider, fields: renamed(provider.fields, shownNames(other)) }
}

/** The provider of a service, by the name the service was created with. */
export const providerOf = (service: { provider: ProviderId; provider_name: string | null }): NamedProvider =>
  findProvider(service.provider_name ?? service.provider) ?? {
    name: service.provider,
    provider: providers[service.provider],
    fields: providers[service.provider].fields,
  }

/** Settings as they are shown, from those that are stored. */
export const toShown = ({ name }: NamedProvider, settings: Settings): Settings =>
  renamed(settings, shownNames(otherNames[name]))

/** Settings as they are stored, from those that are shown. */
export const toStored = ({ name }: NamedProvider, settings: Settings): Settings =>
  renamed(settings, otherNames[name]?.settings ?? {})

function shownNames(other: OtherName | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(other?.settings ?? {}).map(([shown, stored]) => [stored, shown]))
}

function renamed<Value>(
  record: Readonly<Record<string, Value>>,
  names: Readonly<Record<string, string>>,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [names[name] ?? name, value]))
}
