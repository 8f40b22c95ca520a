// Lists, pauses and resumes queues.
import type { Cluster, Queue } from '@millrace/server/wire.ts'
import { print } from '../../command.ts'
import { Refused } from '../../refused.ts'
import { listAll, openApi, type Api } from '../api.ts'
import { findCluster } from '../cluster.ts'
import type { ClientOptions } from '../command.ts'
import { showRows } from '../show.ts'
import { stateText } from '../style.ts'
import { oneLine } from '../text.ts'

export interface QueueOptions extends ClientOptions {
  cluster?: string
}

interface Placed {
  queue: Queue
  cluster: Cluster
}

export async function listQueues(options: QueueOptions): Promise<void> {
  const api = await openApi(options)
  const placed = await listPlaced(api, options)
  if (options.json) {
    console.log(JSON.stringify(placed.map(({ queue, cluster }) => ({ ...queue, cluster: nameOf(cluster) }))))
    return
  }
  await showRows(options, placed, `${api.org} has no queues.`, (style) => [
    { title: 'Queue', text: ({ queue }) => queue.key, least: 10 },
    { title: 'Cluster', text: ({ cluster }) => cluster.name, least: 10 },
    {
      title: 'Dispatch',
      styled: ({ queue }) =>
        queue.dispatch_paused ? stateText(style, 'paused') : style.paint('green', '✓ on'),
    },
    { title: 'Note', text: ({ queue }) => queue.dispatch_paused_note, least: 8 },
    { title: 'Description', text: ({ queue }) => queue.description, least: 12 },
  ])
}

export async function pauseQueue(key: string, options: QueueOptions & { note?: string }): Promise<void> {
  const api = await openApi(options)
  const { queue, cluster } = await findQueue(api, key, options)
  const body = options.note === undefined ? {} : { dispatch_paused_note: options.note }
  const paused = await api.post<Queue>(`${pathOf(cluster, queue)}/pause_dispatch`, body)
  print(
    options,
    paused,
    `The jobs of ${oneLine(queue.key)} wait from now on. Continue with: millrace queue resume ${oneLine(queue.key)}`,
  )
}

export async function resumeQueue(key: string, options: QueueOptions): Promise<void> {
  const api = await openApi(options)
  const { queue, cluster } = await findQueue(api, key, options)
  const resumed = await api.post<Queue>(`${pathOf(cluster, queue)}/resume_dispatch`, {})
  print(options, resumed, `The jobs of ${oneLine(queue.key)} are handed out again.`)
}

const pathOf = (cluster: Cluster, queue: Queue) => `clusters/${cluster.id}/queues/${queue.id}`
const nameOf = ({ id, name }: Cluster) => ({ id, name })

async function listPlaced(api: Api, { cluster: given }: QueueOptions): Promise<Placed[]> {
  const clusters =
    given === undefined ? await listAll(api.pages<Cluster>('clusters')) : [await findCluster(api, given)]
  const lists = await Promise.all(
    clusters.map(async (cluster) => {
      const queues = await listAll(api.pages<Queue>(`clusters/${cluster.id}/queues`))
      return queues.map((queue) => ({ queue, cluster }))
    }),
  )
  return lists.flat()
}

async function findQueue(api: Api, given: string, options: QueueOptions): Promise<Placed> {
  const all = await listPlaced(api, options)
  const found = all.filter(({ queue }) => queue.key === given || queue.id === given)
  const [only, ...others] = found
  if (only !== undefined && others.length === 0) return only
  if (only !== undefined) {
    const clusters = found.map(({ cluster }) => oneLine(cluster.name)).join(', ')
    throw new Refused(`The clusters ${clusters} have a queue ${given} each: choose one with --cluster.`)
  }
  const keys = [...new Set(all.map(({ queue }) => oneLine(queue.key)))]
  throw new Refused(`There is no queue ${given}, but ${keys.join(', ') || 'none'}.`)
}
