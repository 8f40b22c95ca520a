import { lazy, Suspense } from 'react'
import { showLabel } from '../../../parts/labels.ts'
import styles from '../Content.module.css'

const Markdown = lazy(() => import('../tabs/Markdown.tsx').then(({ Markdown }) => ({ default: Markdown })))

/** What the author of a block or an input tells its readers, in Markdown. */
export const Prompt = ({ text }: { text: string | null | undefined }) =>
  text ? (
    <div className={`prose ${styles.prompt}`}>
      <Suspense fallback={<p>{showLabel(text)}</p>}>
        <Markdown source={text} />
      </Suspense>
    </div>
  ) : null
