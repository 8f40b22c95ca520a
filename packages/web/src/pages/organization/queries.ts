import { call } from '../../api/call.ts'
import type { Schemas } from '../../api/operations.ts'

export const updateOrganization = (org: string, body: Schemas['UpdateOrganization']) =>
  call('PATCH /v2/organizations/{org}', { params: { org }, body })
