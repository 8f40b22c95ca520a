import { lazy, Suspense, useState } from 'react'
import { PipelineGraph } from '../graph/canvas/PipelineGraph.tsx'
import { Loading } from '../parts/States.tsx'
import type { Checked } from './check.ts'
import { Problems } from './Problems.tsx'

const PipelineEditor = lazy(() =>
  import('./PipelineEditor.tsx').then((module) => ({ default: module.PipelineEditor })),
)

const nothing: Checked = { marks: [], steps: [], edges: [] }

interface Props {
  /** The text at the beginning. */
  text: string
  onChange: (text: string) => void
  onChecked: (hasErrors: boolean) => void
}

/** The steps of a pipeline as text, with its problems, and as a graph. */
export function StepsEditor({ text, onChange, onChecked }: Props) {
  const [checked, setChecked] = useState(nothing)
  const take = (next: Checked) => {
    setChecked(next)
    onChecked(hasErrors(next))
  }
  return (
    <>
      <Suspense fallback={<Loading />}>
        <PipelineEditor text={text} onChange={onChange} onChecked={take} />
      </Suspense>
      <Problems marks={checked.marks} />
      {!hasErrors(checked) && checked.steps.length > 0 && (
        <PipelineGraph steps={checked.steps} edges={checked.edges} />
      )}
    </>
  )
}

const hasErrors = ({ marks }: Checked) => marks.some(({ severity }) => severity === 'error')
