import type { StatusApi } from '../host.ts'
import { contextOf, refusalIn, type StatusState } from '../status.ts'

export const status: StatusApi = {
  requestFor: (reported) => ({
    path: `/projects/${encodeURIComponent(reported.repository)}/statuses/${reported.commit}`,
    body: {
      state: states[reported.state],
      target_url: reported.url,
      description: reported.description,
      name: contextOf(reported),
    },
  }),
  refusalIn(context, response) {
    // GitLab refuses a status that the commit has already.
    const isKnown =
      response.status === 400 && response.body.toString().slice(0, 300).includes('Cannot transition status')
    return isKnown ? null : refusalIn(context, response)
  },
}

const states: Readonly<Record<StatusState, string>> = {
  pending: 'pending',
  running: 'running',
  success: 'success',
  failure: 'failed',
  canceled: 'canceled',
  skipped: 'canceled',
}
