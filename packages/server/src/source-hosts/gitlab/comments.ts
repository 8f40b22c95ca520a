import { Type, type Static } from 'typebox'
import { answerReader, type HostComment } from '../comments.ts'
import { maybe, Text } from '../fields.ts'
import type { CommentApi, CommentPlace } from '../host.ts'

const Note = Type.Object({ id: Type.Integer(), body: maybe(Text) })
const commentOf = ({ id, body }: Static<typeof Note>): HostComment => ({ id: String(id), text: body ?? '' })

const notes = ({ repository, pullRequest }: CommentPlace) =>
  `/projects/${encodeURIComponent(repository)}/merge_requests/${pullRequest}/notes`

export const comments: CommentApi = {
  creationRequest: (place, text) => ({ path: notes(place), body: { body: text } }),
  updateRequest: (place, id, text) => ({
    method: 'PUT',
    path: `${notes(place)}/${id}`,
    body: { body: text },
  }),
  listRequest: (place, { page }) => ({
    method: 'GET',
    path: `${notes(place)}?order_by=created_at&sort=desc&per_page=20&page=${page}`,
  }),
  readComment: answerReader(Note, commentOf),
  readList: answerReader(Type.Array(Note), (all) => all.map(commentOf)),
}
