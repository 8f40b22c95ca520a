import { Type, type Static } from 'typebox'
import { answerReader, type HostComment } from '../comments.ts'
import { maybe, Text } from '../fields.ts'
import type { CommentApi } from '../host.ts'
import { repositoryPath } from '../status.ts'

const Comment = Type.Object({ id: Type.Integer(), body: maybe(Text) })
const commentOf = ({ id, body }: Static<typeof Comment>): HostComment => ({
  id: String(id),
  text: body ?? '',
})

/** Every pull request is an issue too, with the same number. */
export const comments: CommentApi = {
  creationRequest: ({ repository, pullRequest }, text) => ({
    path: `/repos/${repositoryPath(repository)}/issues/${pullRequest}/comments`,
    body: { body: text },
  }),
  updateRequest: ({ repository }, id, text) => ({
    method: 'PATCH',
    path: `/repos/${repositoryPath(repository)}/issues/comments/${id}`,
    body: { body: text },
  }),
  // The list has no pages.
  listRequest: ({ repository, pullRequest }, { since, page }) =>
    page > 1
      ? null
      : {
          method: 'GET',
          path: `/repos/${repositoryPath(repository)}/issues/${pullRequest}/comments?since=${encodeURIComponent(since)}`,
        },
  readComment: answerReader(Comment, commentOf),
  readList: answerReader(Type.Array(Comment), (all) => all.map(commentOf)),
}
