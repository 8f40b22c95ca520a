import type { LeafStep, PipelineDocument, StepDefinition } from '@millrace/engine/steps/types.ts'

/** The text of a document, with the fields that random documents use. */
export const writeDocument = ({ steps }: PipelineDocument) => JSON.stringify({ steps: steps.map(stepOf) })

function stepOf(step: StepDefinition): object {
  const common = {
    key: step.key,
    ...(step.dependsOn === null
      ? {}
      : {
          depends_on: step.dependsOn.map(({ ref, allowFailure }) => ({
            step: ref,
            ...(allowFailure === null ? {} : { allow_failure: allowFailure }),
          })),
        }),
    allow_dependency_failure: step.allowDependencyFailure,
    ...(step.condition === null ? {} : { if: step.condition }),
  }
  return step.kind === 'group'
    ? { group: 'Group', ...common, steps: step.steps.map(stepOf) }
    : { ...common, ...leafOf(step) }
}

function leafOf(step: LeafStep): object {
  switch (step.kind) {
    case 'command':
      return {
        command: step.command,
        soft_fail: Array.isArray(step.softFail)
          ? step.softFail.map((status) => ({ exit_status: status }))
          : step.softFail,
        cancel_on_build_failing: step.cancelOnBuildFailing,
        ...(step.parallelism === null ? {} : { parallelism: step.parallelism }),
        ...(step.concurrency === null
          ? {}
          : { concurrency: step.concurrency.limit, concurrency_group: step.concurrency.group }),
        retry: {
          automatic: step.retry.automatic.map(({ exitStatus, limit }) => ({
            exit_status: exitStatus,
            limit,
          })),
          manual: { permit_on_passed: step.retry.manual.permitOnPassed },
        },
      }
    case 'trigger':
      return { trigger: step.pipeline, async: step.async, soft_fail: step.softFail }
    case 'wait':
      return { wait: null, continue_on_failure: step.continueOnFailure }
    case 'block':
    case 'input':
      return { [step.kind]: 'Go?', blocked_state: step.blockedState }
  }
}
