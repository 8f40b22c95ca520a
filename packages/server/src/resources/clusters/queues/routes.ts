import { Type } from 'typebox'
import { created, noContent, ok, okJson } from '../../../http/answer.ts'
import { linkHeader } from '../../../http/links.ts'
import { pageAnswer, pageLinks, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import * as clusters from '../clusters/queries.ts'
import { countInQueues } from './counts.ts'
import { createQueue } from './create.ts'
import { deleteQueue } from './delete.ts'
import { findEstimateErrors } from './estimate-errors.ts'
import { findMetrics } from './metrics.ts'
import { presentQueue } from './present.ts'
import * as queues from './queries.ts'
import { CreateQueue, PauseDispatch, Queue, QueueMetrics, UpdateQueue, WaitingJob } from './schema.ts'
import { pauseDispatch, resumeDispatch, updateQueue } from './update.ts'
import { listWaitingJobs } from './waiting-jobs.ts'

const listQueuesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/queues',
  summary: 'List the queues of a cluster, oldest first',
  scope: 'read_clusters',
  permission: 'member',
  query: {
    include_counts: Type.Optional(
      Type.Boolean({ description: 'Add `counts`: jobs and agents of each queue. Default false.' }),
    ),
  },
  paging: 'pages',
  answers: { 200: Type.Array(Queue) },
  async handler({ ctx, org, params, query, url }) {
    await clusters.getInOrg(ctx.db, org.id, params.cluster)
    const page = readPage(url)
    const rows = await queues.listInCluster(ctx.db, org.id, params.cluster, page)
    const ids = query.include_counts ? rows.map(({ id }) => id) : []
    const countsOf = ids.length === 0 ? null : await countInQueues(ctx.db, org.id, ids)
    return pageAnswer(page, rows, (row) => {
      const counts = countsOf?.get(row.id)
      return { ...presentQueue(ctx.config.url, org.slug, row), ...(counts === undefined ? {} : { counts }) }
    })
  },
})

const getQueueRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/queues/:queue',
  summary: 'Get a queue',
  scope: 'read_clusters',
  permission: 'member',
  answers: { 200: Queue },
  async handler({ ctx, org, params }) {
    const queue = await queues.getInCluster(ctx.db, org.id, params.cluster, params.queue)
    return ok(presentQueue(ctx.config.url, org.slug, queue))
  },
})

const listWaitingJobsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/queues/:queue/jobs',
  summary: 'List the jobs that wait for an agent of the queue, in the order in which agents get them',
  scope: 'read_builds',
  permission: 'member',
  paging: 'pages',
  answers: { 200: Type.Array(WaitingJob) },
  async handler({ ctx, org, caller, params, url }) {
    const queue = await queues.getInCluster(ctx.db, org.id, params.cluster, params.queue)
    const page = readPage(url)
    const rows = await listWaitingJobs(ctx.db, org, caller, queue, {
      ...page,
      url: ctx.config.url,
      now: ctx.now(),
    })
    const shown = rows.slice(0, page.perPage).filter((job) => job !== null)
    return {
      ...okJson(`[${shown.join(',')}]`),
      headers: linkHeader(pageLinks(page, rows.length > page.perPage)),
    }
  },
})

const getQueueMetricsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/queues/:queue/metrics',
  summary: 'Get how busy a queue is, now and in the last 60 minutes',
  scope: 'read_clusters',
  permission: 'member',
  answers: { 200: QueueMetrics },
  async handler({ ctx, org, params }) {
    const queue = await queues.getInCluster(ctx.db, org.id, params.cluster, params.queue)
    const metrics = await findMetrics(ctx.db, org.id, queue.id, ctx.now())
    return ok({ ...metrics, estimates: await findEstimateErrors(ctx.db, org.id, queue.id, ctx.now()) })
  },
})

const createQueueRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/clusters/:cluster/queues',
  summary: 'Create a queue',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  body: CreateQueue,
  answers: { 201: Queue },
  errors: {
    422: 'The body is not valid, the key is taken, the cluster is full, or it is not hosted but the queue is.',
  },
  async handler({ ctx, org, caller, params, body }) {
    const queue = await createQueue({ ctx, org, caller }, params.cluster, body)
    return created(presentQueue(ctx.config.url, org.slug, queue))
  },
})

const updateQueueRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/clusters/:cluster/queues/:queue',
  summary: 'Update a queue',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  body: UpdateQueue,
  answers: { 200: Queue },
  errors: { 422: 'The body is not valid, or would change the key, the kind of queue or more than its size.' },
  async handler({ ctx, org, caller, params, body }) {
    const queue = await updateQueue({ ctx, org, caller }, params.cluster, params.queue, body)
    return ok(presentQueue(ctx.config.url, org.slug, queue))
  },
})

const deleteQueueRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/clusters/:cluster/queues/:queue',
  summary: 'Delete a queue',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  answers: { 204: null },
  errors: { 422: 'The queue is the default queue of its cluster, or jobs run on its hosted agents.' },
  async handler({ ctx, org, caller, params }) {
    await deleteQueue({ ctx, org, caller }, params.cluster, params.queue)
    return noContent()
  },
})

const pauseDispatchRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/clusters/:cluster/queues/:queue/pause_dispatch',
  summary: 'Stop handing out the jobs of a queue',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  body: PauseDispatch,
  answers: { 200: Queue },
  errors: { 422: 'The queue is already paused.' },
  async handler({ ctx, org, caller, params, body }) {
    const queue = await pauseDispatch({ ctx, org, caller }, params.cluster, params.queue, body)
    return ok(presentQueue(ctx.config.url, org.slug, queue))
  },
})

const resumeDispatchRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/clusters/:cluster/queues/:queue/resume_dispatch',
  summary: 'Hand out the jobs of a queue again',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  answers: { 200: Queue },
  errors: { 422: 'The queue is not paused.' },
  async handler({ ctx, org, caller, params }) {
    const queue = await resumeDispatch({ ctx, org, caller }, params.cluster, params.queue)
    return ok(presentQueue(ctx.config.url, org.slug, queue))
  },
})

export const queueRoutes = [
  listQueuesRoute,
  getQueueRoute,
  listWaitingJobsRoute,
  getQueueMetricsRoute,
  createQueueRoute,
  updateQueueRoute,
  deleteQueueRoute,
  pauseDispatchRoute,
  resumeDispatchRoute,
]
