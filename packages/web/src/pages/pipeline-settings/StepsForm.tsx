import { lazy, Suspense, useState } from 'react'
import type { Checked } from '../../editor/check.ts'
import { Problems } from '../../editor/Problems.tsx'
import { PipelineGraph } from '../../graph/canvas/PipelineGraph.tsx'
import { Form } from '../../parts/Field.tsx'
import { Loading } from '../../parts/States.tsx'
import { SaveBar } from './SaveBar.tsx'
import { useUpdatePipeline, type Pipeline } from './update.ts'

const PipelineEditor = lazy(() =>
  import('../../editor/PipelineEditor.tsx').then((module) => ({ default: module.PipelineEditor })),
)

const nothing: Checked = { marks: [], steps: [], edges: [] }

export function StepsForm({ org, pipeline }: { org: string; pipeline: Pipeline }) {
  const [text, setText] = useState(pipeline.configuration)
  const [checked, setChecked] = useState(nothing)
  const update = useUpdatePipeline(org, pipeline)
  const hasErrors = checked.marks.some(({ severity }) => severity === 'error')
  return (
    <Form onSubmit={() => update.mutate({ configuration: text })}>
      <Suspense fallback={<Loading />}>
        <PipelineEditor text={pipeline.configuration} onChange={setText} onChecked={setChecked} />
      </Suspense>
      <Problems marks={checked.marks} />
      {!hasErrors && checked.steps.length > 0 && (
        <PipelineGraph steps={checked.steps} edges={checked.edges} />
      )}
      <SaveBar
        isChanged={text !== pipeline.configuration}
        isSaving={update.isPending}
        error={update.error}
        disabledReason={hasErrors ? 'Mend the steps first' : undefined}
      />
    </Form>
  )
}
