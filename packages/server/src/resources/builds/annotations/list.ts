import { Readable } from 'node:stream'
import type { Context } from '../../../context.ts'
import type { Answer } from '../../../http/answer.ts'
import type { RequestUrl } from '../../../http/links.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import type { WorkOwner } from '../../../lib/threads.ts'
import { findHtml } from './html.ts'
import { presentAnnotation, presentOutline } from './present.ts'
import * as annotations from './queries.ts'

/** A page of annotations. A page with much HTML is streamed, because one large answer would block the event loop. */
export async function listPage(
  ctx: Context,
  owner: annotations.Owner,
  { scope, withBody, url }: { scope: annotations.Scope; withBody: boolean; url: RequestUrl },
  work: WorkOwner,
): Promise<Answer> {
  const page = readPage(url)
  const read = () => annotations.listOf(ctx.db, owner, { scope, withBody, ...page })
  let rows = await read()
  if (!withBody) return pageAnswer(page, rows, presentOutline)
  const unrendered = rows.filter((row) => !row.is_rendered)
  for (const { id } of unrendered) await findHtml(ctx, owner, id, work)
  if (unrendered.length > 0) rows = await read()
  const answer = pageAnswer(page, rows, (row) => row)
  const shown = rows.slice(0, page.perPage)
  if (shown.every(({ body_html }) => body_html !== null))
    return { ...answer, body: shown.map((row) => presentAnnotation(row, row.body_html ?? '')) }
  return {
    status: 200,
    stream: Readable.from(streamList(ctx, owner, shown, work)),
    ...(answer.headers === undefined ? {} : { headers: answer.headers }),
  }
}

async function* streamList(
  ctx: Context,
  owner: annotations.Owner,
  rows: readonly annotations.ListedRow[],
  work: WorkOwner,
): AsyncGenerator<string> {
  let separator = '['
  for (const row of rows) {
    const html = row.body_html ?? (await findHtml(ctx, owner, row.id, work))
    if (html === undefined) continue
    yield separator + JSON.stringify(presentAnnotation(row, html))
    separator = ','
  }
  yield separator === '[' ? '[]' : ']'
}
