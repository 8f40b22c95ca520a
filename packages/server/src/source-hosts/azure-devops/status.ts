import { Type } from 'typebox'
import { checker } from '../../lib/check.ts'
import { maybe, Text } from '../fields.ts'
import type { CommentPlace, StatusApi } from '../host.ts'
import { contextOf, refusalIn, type ReportedStatus, type StatusState } from '../status.ts'
import { apiPath } from './address.ts'
import { version } from './repositories.ts'

export const status: StatusApi = {
  requestFor: (reported) => ({
    path: `${below(reported.repository)}/commits/${reported.commit}/statuses?${version}`,
    body: bodyOf(reported),
  }),
  refusalIn,
  // Branch policies look at these. One with an iteration does not count for later pushes.
  ofPulls: {
    iterationsRequest: (place) => ({ method: 'GET', path: `${pullPath(place)}/iterations?${version}` }),
    findIteration(answer, commit) {
      const found = checkIterations(answer)
      if (!found.ok) return null
      const ofCommit = found.value.value.filter(({ sourceRefCommit }) => sourceRefCommit?.commitId === commit)
      return ofCommit.at(-1)?.id ?? null
    },
    requestFor: (reported, place, iterationId) => ({
      path: `${pullPath(place)}/statuses?${version}`,
      body: { ...bodyOf(reported), iterationId },
    }),
  },
}

const checkIterations = checker(
  Type.Object({
    value: Type.Array(
      Type.Object({
        id: Type.Integer(),
        sourceRefCommit: maybe(Type.Object({ commitId: maybe(Text) })),
      }),
    ),
  }),
)

const below = (repository: string): string => apiPath(repository) ?? `/${encodeURIComponent(repository)}`

const pullPath = ({ repository, pullRequest }: CommentPlace): string =>
  `${below(repository)}/pullRequests/${encodeURIComponent(pullRequest)}`

const bodyOf = (reported: ReportedStatus) => ({
  state: states[reported.state],
  description: reported.description,
  targetUrl: reported.url,
  context: { name: contextOf(reported) },
})

const states: Readonly<Record<StatusState, string>> = {
  pending: 'pending',
  running: 'pending',
  success: 'succeeded',
  failure: 'failed',
  canceled: 'error',
  skipped: 'error',
}
