import { showRows } from '../show.ts'
import { describeBytes } from '../sizes.ts'
import { stateText } from '../style.ts'
import { oneLine } from '../text.ts'
import { findArtifacts, type ArtifactOptions } from './find.ts'

export async function listArtifacts(build: string | undefined, options: ArtifactOptions): Promise<void> {
  const { name, artifacts } = await findArtifacts(build, options)
  await showRows(options, artifacts, `${oneLine(name)} has no such artifacts.`, (style) => [
    { title: 'Path', text: ({ path }) => path, least: 20 },
    { title: 'Size', text: ({ file_size }) => describeBytes(file_size), align: 'right' },
    { title: 'State', styled: ({ state }) => stateText(style, state) },
    { title: 'Type', text: ({ mime_type }) => mime_type, least: 8 },
    { title: 'Job', text: ({ job_id }) => job_id, least: 8 },
  ])
}
