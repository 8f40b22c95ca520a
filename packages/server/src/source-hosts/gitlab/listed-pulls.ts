import { Type } from 'typebox'
import { authorOf, Commit, cutLabels, maybe, Number, RefName, Short, Text } from '../fields.ts'
import type { PullRequestApi } from '../host.ts'
import { pullReader, pullsPerPage } from '../pull-requests.ts'
import { withQuery } from '../repositories.ts'

const MergeRequest = Type.Object({
  iid: Number,
  title: Short,
  sha: Commit,
  source_branch: RefName,
  target_branch: RefName,
  source_project_id: maybe(Number),
  target_project_id: Number,
  draft: maybe(Type.Boolean()),
  labels: maybe(Type.Array(Text)),
  author: maybe(Type.Object({ name: maybe(Text), username: maybe(Text) })),
})

export const listedPulls: PullRequestApi = {
  listRequest: (repository, page) => ({
    method: 'GET',
    path: withQuery(`/projects/${encodeURIComponent(repository)}/merge_requests`, {
      state: 'opened',
      order_by: 'updated_at',
      sort: 'desc',
      per_page: pullsPerPage,
      page,
    }),
  }),
  readList: pullReader(MergeRequest, null, (given) => {
    const isFork = given.source_project_id !== given.target_project_id
    return {
      number: String(given.iid),
      pull: {
        title: given.title,
        isOpen: true,
        branch: given.source_branch,
        commit: given.sha,
        // The list does not name the project of a fork; its members often have the name of its author.
        owner: isFork ? (given.author?.username ?? null) : null,
        repository: null,
        isFork,
        base: given.target_branch,
        labels: cutLabels(given.labels ?? []),
        isDraft: given.draft ?? null,
        author: authorOf(given.author?.name, null),
      },
    }
  }),
}
