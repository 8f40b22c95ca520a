import { useParams } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { CopyBlock } from '../../../parts/Copy.tsx'
import { FieldStack, SelectField, TextField } from '../../../parts/Field.tsx'
import { showLabel } from '../../../parts/labels.ts'
import { PipelineSettings } from '../PipelineSettings.tsx'
import type { Pipeline } from '../queries.ts'
import { badgeUrl, htmlOf, markdownOf, type Look } from './markup.ts'
import styles from './page.module.css'

export function BadgesPage() {
  const address = useParams({ from: '/$org/$pipeline/settings/badges' })
  return (
    <PipelineSettings
      address={address}
      name="badges"
      subtitle="An image of how the last build ended, for a README. Whoever has its address sees it, without signing in."
    >
      {({ pipeline }) => <Badge pipeline={pipeline} />}
    </PipelineSettings>
  )
}

function Badge({ pipeline }: { pipeline: Pipeline }) {
  const [look, setLook] = useState<Look>({ branch: '', style: 'rounded', theme: 'default' })
  const url = badgeUrl(pipeline.badge_url, look)
  const name = showLabel(pipeline.name)
  // Pages may be open at another name of this server, and load images from their own only.
  const { pathname, search } = new URL(useDeferredValue(url))
  return (
    <div className={styles.columns}>
      <FieldStack>
        <div className={`card ${styles.preview}`}>
          <img src={pathname + search} alt="The badge as it is now" />
        </div>
        <TextField
          label="Branch"
          value={look.branch}
          placeholder={pipeline.default_branch}
          hint="Empty: the last build of any branch."
          onValue={(branch) => setLook({ ...look, branch: branch.trim() })}
        />
        <SelectField
          label="Corners"
          value={look.style}
          onValue={(style) => setLook({ ...look, style: style as Look['style'] })}
        >
          <option value="rounded">Rounded</option>
          <option value="square">Square</option>
        </SelectField>
        <SelectField
          label="Colours"
          value={look.theme}
          onValue={(theme) => setLook({ ...look, theme: theme as Look['theme'] })}
        >
          <option value="default">Ordinary</option>
          <option value="github">As on GitHub</option>
          <option value="dark">Dark label</option>
          <option value="light">Light label</option>
        </SelectField>
      </FieldStack>
      <div className={styles.codes}>
        <h2>Markdown</h2>
        <CopyBlock text={markdownOf(name, url, pipeline.web_url)} label="Markdown" />
        <h2>HTML</h2>
        <CopyBlock text={htmlOf(name, url, pipeline.web_url)} label="HTML" />
        <h2>Address of the image</h2>
        <CopyBlock text={url} label="address of the image" />
      </div>
    </div>
  )
}
