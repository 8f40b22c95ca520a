import type { Emoji as KnownEmoji } from '@millrace/engine/labels/emoji.ts'
import type { Static } from 'typebox'
import type { Emoji } from './schema.ts'

export const presentEmoji = (
  url: string,
  { names: [name = '', ...aliases] }: KnownEmoji,
): Static<typeof Emoji> => ({
  name,
  url: `${url}/emojis/${encodeURIComponent(name)}.svg`,
  ...(aliases.length > 0 ? { aliases } : {}),
})

export const renderEmoji = (character: string): string =>
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><text x="50" y="50" font-size="80" ' +
  `text-anchor="middle" dominant-baseline="central">${character}</text></svg>`
