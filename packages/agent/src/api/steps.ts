import type {
  BuildCancelResponse,
  StepCancelRequest,
  StepCancelResponse,
  StepExportRequest,
  StepExportResponse,
  StepUpdateRequest,
} from '@millrace/protocol/steps.ts'
import { ask, path, send } from '../http/call.ts'
import type { Api } from '../http/call.ts'

export function exportStep(api: Api, step: string, json: StepExportRequest): Promise<StepExportResponse> {
  return ask(api, 'step', { method: 'POST', path: path('steps', step, 'export'), json })
}

export async function updateStep(api: Api, step: string, json: StepUpdateRequest): Promise<void> {
  await send(api, 'step', { method: 'PUT', path: path('steps', step), json })
}

export function cancelStep(api: Api, step: string, json: StepCancelRequest): Promise<StepCancelResponse> {
  return ask(api, 'step', { method: 'POST', path: path('steps', step, 'cancel'), json })
}

export function cancelBuild(api: Api, buildId: string): Promise<BuildCancelResponse> {
  return ask(api, 'buildCancel', { method: 'POST', path: path('builds', buildId, 'cancel') })
}
