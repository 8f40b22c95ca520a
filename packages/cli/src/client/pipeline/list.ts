import type { Pipeline } from '@millrace/server/wire.ts'
import { listAll, openApi } from '../api.ts'
import type { ClientOptions } from '../command.ts'
import { showRows } from '../show.ts'

export interface ListPipelinesOptions extends ClientOptions {
  name?: string
  archived?: true
  limit?: number
}

export async function listPipelines(options: ListPipelinesOptions): Promise<void> {
  const api = await openApi(options)
  const query = new URLSearchParams()
  if (options.name !== undefined) query.set('name', options.name)
  if (options.archived) query.set('include_archived', 'true')
  const rows = await listAll(api.pages<Pipeline>(`pipelines?${query.toString()}`), options.limit)
  await showRows(options, rows, `${api.org} has no such pipelines.`, (style) => [
    { title: 'Pipeline', text: ({ slug }) => slug, least: 10 },
    { title: 'Name', text: ({ name }) => name, least: 8 },
    { title: 'Repository', text: ({ repository }) => repository, least: 10 },
    { title: 'Branch', text: ({ default_branch }) => default_branch, least: 6 },
    { title: 'Running', text: ({ running_builds_count }) => running_builds_count, align: 'right' },
    { title: 'Scheduled', text: ({ scheduled_builds_count }) => scheduled_builds_count, align: 'right' },
    ...(options.archived
      ? [
          {
            title: 'Archived',
            styled: ({ archived_at }: Pipeline) => (archived_at === null ? '' : style.dim('archived')),
          },
        ]
      : []),
  ])
}
