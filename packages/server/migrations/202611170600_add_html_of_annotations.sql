-- The rendered body, and of which state of the row it was rendered by which renderer. A server that does not know of
-- them changes `updated_at` with the body, and the HTML then no longer counts.
alter table annotations add column body_html text, add column body_html_of text;
