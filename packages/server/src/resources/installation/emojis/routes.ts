import { findEmoji, listEmoji } from '@millrace/engine/labels/emoji.ts'
import { Type } from 'typebox'
import { ok, svg } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import { renderEmoji, presentEmoji } from './present.ts'
import { Emoji } from './schema.ts'

const listEmojisRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/emojis',
  summary: 'List all emojis, for showing `:name:` in texts; not paged',
  scope: 'none',
  permission: 'member',
  answers: { 200: Type.Array(Emoji) },
  async handler({ ctx }) {
    return ok(listEmoji().map((emoji) => presentEmoji(ctx.config.url, emoji)))
  },
})

const getEmojiRoute = route({
  method: 'GET',
  url: '/emojis/:emoji.svg',
  summary: 'Get the image of an emoji, by its name or an alias',
  scope: 'none',
  permission: 'anonymous',
  answers: { 200: Type.String({ contentMediaType: 'image/svg+xml' }) },
  async handler({ params }) {
    const character = findEmoji(params.emoji)
    if (character === null) throw notFound('No emoji found')
    return svg(renderEmoji(character))
  },
})

export const emojiRoutes = [listEmojisRoute, getEmojiRoute]
