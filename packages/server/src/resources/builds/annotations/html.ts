// The HTML of an annotation is rendered in a thread when its body is stored, and is stored beside it. Rows of older
// servers have none, and a process may die before it stores it; then the first read renders it.
import type { Context } from '../../../context.ts'
import { compiledModule } from '../../../lib/package-files.ts'
import { ThreadLimitExceeded } from '../../../lib/thread.ts'
import { withPlace, type Place, type WorkOwner } from '../../../lib/threads.ts'
import * as annotations from './queries.ts'
import type { renderBody } from './render.ts'
import { showSource } from './source-html.ts'

export async function renderAndStore(
  ctx: Context,
  owner: annotations.Owner,
  written: annotations.WrittenBody,
  place: Place,
): Promise<string> {
  const html = await render(written.body, place)
  await annotations.storeHtml(ctx.db, owner, written, html)
  return html
}

/** The HTML of one annotation; undefined when it was deleted. */
export async function findHtml(
  ctx: Context,
  owner: annotations.Owner,
  id: string,
  work: WorkOwner,
): Promise<string | undefined> {
  const found = await annotations.findBody(ctx.db, owner, id)
  return found && (found.body_html ?? withPlace(work, (place) => renderAndStore(ctx, owner, found, place)))
}

/** Some Markdown takes the renderer minutes or gigabytes, and is shown as source instead. */
async function render(body: string, place: Place): Promise<string> {
  const cpuMs = 1000 + Math.ceil(body.length / 1024)
  const module = compiledModule('resources/builds/annotations/render.ts')
  try {
    return await place.run<typeof renderBody>(module, 'renderBody', body, cpuMs)
  } catch (error) {
    if (error instanceof ThreadLimitExceeded) return showSource(body)
    throw error
  }
}
