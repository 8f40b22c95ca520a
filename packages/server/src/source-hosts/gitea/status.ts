import { commitStatus } from '../github/status.ts'
import type { StatusApi } from '../host.ts'
import { contextOf, refusalIn } from '../status.ts'

export const status: StatusApi = {
  requestFor: (reported) => commitStatus({ ...reported, context: contextOf(reported) }),
  refusalIn,
}
