// Audit data of a service. The row does not contain its secrets.
import { isEnabled } from './present.ts'
import type { ServiceRow } from './queries.ts'

export const subjectOf = ({ id, description, provider }: ServiceRow) => ({
  type: 'NotificationService',
  uuid: id,
  name: description || provider,
})

export const auditData = (service: ServiceRow) => ({
  provider: service.provider,
  description: service.description,
  enabled: isEnabled(service),
  scope: service.scope,
  scope_uuids: service.scope_uuids,
  branch_configuration: service.branch_configuration,
  build_states: service.build_states,
  settings: service.settings,
})
