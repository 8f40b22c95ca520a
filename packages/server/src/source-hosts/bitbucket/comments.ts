import { Type, type Static } from 'typebox'
import { answerReader, type HostComment } from '../comments.ts'
import { maybe, Text } from '../fields.ts'
import type { CommentApi, CommentPlace } from '../host.ts'
import { repositoryPath } from '../status.ts'

const Comment = Type.Object({
  id: Type.Integer(),
  content: Type.Object({ raw: maybe(Text) }),
  deleted: maybe(Type.Boolean()),
})
const commentOf = ({ id, content }: Static<typeof Comment>): HostComment => ({
  id: String(id),
  text: content.raw ?? '',
})

const pathOf = ({ repository, pullRequest }: CommentPlace) =>
  `/repositories/${repositoryPath(repository)}/pullrequests/${pullRequest}/comments`

export const comments: CommentApi = {
  creationRequest: (place, text) => ({ path: pathOf(place), body: { content: { raw: text } } }),
  updateRequest: (place, id, text) => ({
    method: 'PUT',
    path: `${pathOf(place)}/${id}`,
    body: { content: { raw: text } },
  }),
  listRequest: (place, { page }) => ({
    method: 'GET',
    path: `${pathOf(place)}?sort=-created_on&pagelen=20&page=${page}`,
  }),
  readComment: answerReader(Comment, commentOf),
  // Deleted comments stay in the list.
  readList: answerReader(Type.Object({ values: Type.Array(Comment) }), ({ values }) =>
    values.filter(({ deleted }) => deleted !== true).map(commentOf),
  ),
}
