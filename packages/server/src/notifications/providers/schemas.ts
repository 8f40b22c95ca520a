// Settings that several providers share.
import { Type } from 'typebox'
import { isOutboundUrl } from '../../lib/outbound.ts'
import { eventNames } from '../names.ts'
import type { Field, Provider, Sender } from '../provider.ts'

/** An address that a request can be sent to. */
export const urlField = {
  schema: Type.String({
    maxLength: 2000,
    pattern: '^https?://\\S+$',
    description: 'Must be an http or https URL.',
    examples: ['https://hooks.example.com/builds'],
  }),
  isAddress: true,
  refuse: (value) =>
    typeof value === 'string' && isOutboundUrl(value)
      ? null
      : 'must be an http or https URL without a user name in it',
} satisfies Partial<Field>

export const EventNames = Type.Array(Type.Union(eventNames.map((name) => Type.Literal(name))), {
  maxItems: 100,
  examples: [['build.finished']],
  description: 'Names of the events that are sent.',
})

/** Names and texts, such as headers or attributes. */
export const TextMap = Type.Record(Type.String(), Type.String({ maxLength: 4000 }), {
  examples: [{ 'x-api-key': 'secret' }],
})

const fixed = (reason: string) => () => reason

/** Facts about the site, read from it. */
const managed = {
  shown: 'full',
  isFixed: true,
  refuseChange: fixed('is managed by the provider and cannot be changed'),
} satisfies Partial<Field>

/** OAuth tokens. */
const credential = {
  label: 'Credential',
  schema: Type.String(),
  isSecret: true,
  shown: 'never',
  isFixed: true,
  refuseChange: fixed('is a credential of the provider and cannot be changed'),
} satisfies Field

export const setAtCreation = {
  isFixed: true,
  refuseChange: fixed('can only be set at creation'),
} satisfies Partial<Field>

/** For providers that want every event unless `build_states` is set. */
export const unlessFiltered: Sender['wants'] = ({ buildStates }, { states }) =>
  buildStates.length === 0 || states.length === 0 || states.some((state) => buildStates.includes(state))

/** The settings of a service that a person has connected; `choice` is the one that they choose. */
export const connectedFields = (choice: Provider['fields']): Provider['fields'] => ({
  workspace_id: {
    ...managed,
    label: 'Id of the workspace',
    schema: Type.String({ description: 'Id of the connected workspace.' }),
  },
  workspace_name: {
    ...managed,
    label: 'Workspace',
    schema: Type.String({ description: 'Name of the connected workspace.' }),
  },
  ...choice,
  access_token: credential,
  refresh_token: credential,
  token_expires_at: {
    ...managed,
    label: 'Access ends',
    schema: Type.String({ description: 'When the access to the workspace must be renewed.' }),
  },
})
