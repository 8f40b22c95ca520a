// The body of an annotation as plain text.
import { plainText } from '../screen/plain-text.ts'

const tagNames =
  'h[1-6]|p|div|span|br|hr|blockquote|pre|code|kbd|samp|a|img|ul|ol|li|dl|dt|dd|details|summary|b|strong|i|em|u|s|del|ins|mark|small|sub|sup|table|caption|thead|tbody|tfoot|tr|th|td|font|center'
const lineTag =
  /<\/?(?:h[1-6]|p|div|br|hr|blockquote|pre|li|dt|dd|details|summary|tr|table)(?:\s[^<>]*)?\/?>/gi
const anyTag = new RegExp(`</?(?:${tagNames})(?:\\s[^<>]*)?/?>`, 'gi')
const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
  '&amp;': '&',
}

/** Markdown stays as it is. Of HTML only the tags go that annotations may have, so `List<String>` stays. */
export const annotationText = (body: string): string =>
  plainText(body)
    .replace(lineTag, '\n')
    .replace(anyTag, ' ')
    .replace(/&(?:lt|gt|quot|#39|nbsp|amp);/g, (entity) => entities[entity] ?? entity)
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n[ \n]*\n/g, '\n\n')
    .trim()
