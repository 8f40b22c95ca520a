import type { Build } from '@millrace/server/wire.ts'
import { showText } from '../pager.ts'
import { openStyle } from '../style.ts'
import { oneLine } from '../text.ts'
import { describeAge } from '../times.ts'
import type { Graph } from '../watch/graph.ts'
import { layOut } from '../watch/layout.ts'
import { WatchedBuild } from '../watch/model.ts'
import { findBuild, type BuildOptions } from '../find-build.ts'

export async function showBuild(text: string | undefined, options: BuildOptions): Promise<void> {
  const { api, path } = await findBuild(text, options)
  if (options.json) {
    console.log(JSON.stringify(await api.get<Build>(path)))
    return
  }
  const [build, graph] = await Promise.all([
    api.get<Build>(`${path}?exclude_jobs=true&exclude_pipeline=true`),
    api.get<Graph>(`${path}/graph`),
  ])
  const style = openStyle(options)
  const watched = new WatchedBuild(graph)
  watched.load(graph)
  const width = process.stdout.isTTY ? process.stdout.columns : 1000
  const frame = {
    width,
    height: Number.MAX_SAFE_INTEGER,
    now: Date.now(),
    style,
    problem: null,
    interrupt: null,
  }
  const facts = [
    `${build.commit.slice(0, 12)} by ${build.author?.name ?? build.creator?.name ?? 'unknown'}, created ${describeAge(build.created_at)}`,
    ...(build.cancel_reason === null ? [] : [`Canceled: ${build.cancel_reason}`]),
    build.web_url,
  ]
  await showText([...layOut(watched, frame), ...facts.map((fact) => style.dim(oneLine(fact)))].join('\n'))
}
