// The HTML of annotations is made when they are written, in a thread, and stored beside the body. Rows of older servers
// have none, and a process may die before it is stored: then it is made when it is first read.
import type { Context } from '../../context.ts'
import { compiledModule } from '../../lib/package-files.ts'
import { runInThread, ThreadLimitExceeded } from '../../lib/threads.ts'
import * as annotations from './queries.ts'
import type { renderBody } from './render.ts'
import { showSource } from './source-html.ts'

/** Renders what was just written, or was found without HTML, and stores it for all who read it. */
export async function renderAndStore(
  ctx: Context,
  owner: annotations.Owner,
  written: annotations.WrittenBody,
): Promise<string> {
  const html = await render(written.body)
  await annotations.storeHtml(ctx.db, owner, written, html)
  return html
}

/** Of one annotation; undefined when it is gone. */
export async function findHtml(
  ctx: Context,
  owner: annotations.Owner,
  id: string,
): Promise<string | undefined> {
  const found = await annotations.findBody(ctx.db, owner, id)
  return found && (found.body_html ?? renderAndStore(ctx, owner, found))
}

/** Some Markdown takes the renderer minutes, or gigabytes. It is shown as it was written. */
async function render(body: string): Promise<string> {
  const cpuMs = 1000 + Math.ceil(body.length / 1024)
  const module = compiledModule('resources/annotations/render.ts')
  try {
    return await runInThread<typeof renderBody>(module, 'renderBody', body, cpuMs)
  } catch (error) {
    if (error instanceof ThreadLimitExceeded) return showSource(body)
    throw error
  }
}
