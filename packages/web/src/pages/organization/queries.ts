import { call } from '../../api/call.ts'

export const renameOrganization = (org: string, name: string) =>
  call('PATCH /v2/organizations/{org}', { params: { org }, body: { name } })
