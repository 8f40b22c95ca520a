// A service as its form has it, and the bodies that create and change it.
import type { CreateService, Provider, Service, ServiceChange } from '../services/queries.ts'
import { buildStates } from '../services/words.ts'
import { changedSettings, fromForm, initialValues, type FormValues } from './setting-values.ts'

export interface Target {
  id: string
  /** null: the person may not see it. */
  name: string | null
}

export interface ServiceForm {
  description: string
  branches: string
  scope: Service['scope']
  targets: readonly Target[]
  states: readonly string[]
  settings: FormValues
}

export const newForm = ({ settings, selects_by: by }: Provider): ServiceForm => ({
  description: '',
  branches: '',
  scope: 'all',
  targets: [],
  states: by === 'build_states' ? ['build_failed', 'build_fixed'] : [],
  settings: initialValues(settings, null),
})

export const formOf = (service: Service, { settings }: Provider): ServiceForm => ({
  description: service.description,
  branches: service.branch_configuration,
  scope: service.scope,
  targets: service.targets ?? [],
  states: Object.keys(buildStates).filter((name) => service.build_states[name as keyof typeof buildStates]),
  settings: initialValues(settings, service.settings),
})

const statesOf = (chosen: readonly string[]): ServiceChange['build_states'] =>
  Object.fromEntries(Object.keys(buildStates).map((name) => [name, chosen.includes(name)]))

const scopeOf = ({ scope, targets }: Pick<ServiceForm, 'scope' | 'targets'>) => ({
  scope,
  scope_uuids: scope === 'all' ? [] : targets.map(({ id }) => id),
})

export const createBody = ({ id, settings, selects_by: by }: Provider, form: ServiceForm): CreateService => ({
  provider: id,
  description: form.description,
  branch_configuration: form.branches,
  ...scopeOf(form),
  ...(by === 'events' ? {} : { build_states: statesOf(form.states) ?? {} }),
  settings: Object.fromEntries(
    settings.map((setting) => [setting.name, fromForm(setting, form.settings[setting.name] ?? '')]),
  ),
})

/** Only what differs from what is stored. */
export function changeBody(
  { settings }: Provider,
  before: ServiceForm,
  form: ServiceForm,
  changed: Partial<ServiceForm>,
): ServiceChange {
  return {
    ...(changed.description === undefined ? {} : { description: changed.description }),
    ...(changed.branches === undefined ? {} : { branch_configuration: changed.branches }),
    ...(changed.scope === undefined && changed.targets === undefined ? {} : scopeOf(form)),
    ...(changed.states === undefined ? {} : { build_states: statesOf(changed.states) ?? {} }),
    ...(changed.settings === undefined
      ? {}
      : { settings: changedSettings(settings, before.settings, form.settings) }),
  }
}
