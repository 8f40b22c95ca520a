// Puts events on the event bus of a cloud account.
import { Type } from 'typebox'
import { type Provider, type Sender, type Service } from '../provider.ts'
import type { Message } from '../messages/message.ts'
import { detailOf, detailTypes } from './cloud-event.ts'
import { setAtCreation, unlessFiltered } from './schemas.ts'

interface BusSettings {
  cloud_region: string
  cloud_account_id: string
  include_build_meta_data?: boolean
}

export const cloudEventBus: Provider = {
  id: 'cloud_event_bus',
  name: 'Cloud Event Bus',
  graphqlType: null,
  madeBy: 'rest',
  isPinged: false,
  summary: 'Events on the event bus of a cloud account.',
  selectsBy: 'build_states_or_all',
  fields: {
    cloud_region: {
      label: 'Region',
      schema: Type.String({
        pattern: '^[a-z]{2}(-[a-z0-9]+){1,4}$',
        maxLength: 40,
        description: 'Must be the name of a region, such as eu-west-1.',
        examples: ['eu-west-1'],
      }),
      isRequired: true,
      shown: 'full',
      ...setAtCreation,
    },
    cloud_account_id: {
      label: 'Number of the account',
      schema: Type.String({
        pattern: '^\\d{12}$',
        description: 'Must be 12 digits.',
        examples: ['123456789012'],
      }),
      isRequired: true,
      isSecret: true,
      shown: 'masked',
      ...setAtCreation,
    },
    include_build_meta_data: {
      label: 'Send meta-data',
      schema: Type.Boolean({ description: 'Whether events carry the meta-data of the build.' }),
      isRequired: true,
      initial: () => false,
      shown: 'full',
      feature: 'include_build_meta_data',
    },
    include_audit_events: {
      label: 'Send audit events',
      schema: Type.Boolean({
        description:
          'Whether the bus gets the audit events of the organization. Only services for all pipelines get them.',
      }),
      initial: () => false,
      shown: 'full',
      feature: 'audit_log',
    },
  },
}

export const cloudEventBusSender: Sender = {
  wants: (service, trigger) => trigger.event !== 'ping' && unlessFiltered(service, trigger),
  async deliver({ id, message, service, send, cloudBus }) {
    const { cloud_region: region, cloud_account_id: account } = settingsOf(service)
    await cloudBus.put(
      send,
      { region, account },
      {
        detailType: detailTypes[message.event],
        detail: detailText(service, message, id),
        at: message.occurredAt,
        resources: [],
      },
    )
  },
}

const settingsOf = ({ settings }: Pick<Service, 'settings'>) => settings as unknown as BusSettings

const detailText = (service: Service, message: Message, id: string) =>
  JSON.stringify(detailOf(message, id, settingsOf(service).include_build_meta_data ?? false))
