import type { AnnotateRequest, AnnotationScope } from '@millrace/protocol/annotations.ts'
import { path, send } from '../http/call.ts'
import type { Api } from '../http/call.ts'

export async function annotate(api: Api, jobId: string, json: AnnotateRequest): Promise<void> {
  await send(api, 'annotate', { method: 'POST', path: path('jobs', jobId, 'annotations'), json })
}

export async function removeAnnotation(
  api: Api,
  jobId: string,
  context: string,
  scope: AnnotationScope | undefined,
): Promise<void> {
  await send(api, 'annotate', {
    method: 'DELETE',
    path: path('jobs', jobId, 'annotations', context),
    query: { scope },
  })
}
