-- What readers see of a text: tasklens.visible_text.

begin;
select plan(14);

create function pg_temp.differing(cases text[]) returns table (text text, seen text, wanted text)
language sql as $$
  select c.text, tasklens.visible_text(c.text), c.wanted
  from (select cases[i] as text, cases[i + 1] as wanted from generate_series(1, cardinality(cases), 2) i) c
  where tasklens.visible_text(c.text) is distinct from c.wanted
$$;

select is_empty($$ select left(d.text, 200), left(d.seen, 200), d.wanted from pg_temp.differing(array[
  'a <!-- b --> c', 'a  c',
  e'<!--\r\nb\r\n\r\nc\r\n-->\r\n### Steps\r\n', e'### Steps',
  e'a\n<!-- b', 'a',
  'a <!-- b <!-- c --> d --> e', 'a  d --> e',
  'a<!-->b<!--->c', 'abc',
  e'> a\n> <!-- b -->\n> c', e'> a\n> c',
  e'- a\n\n    <!-- b -->\n\n- c', e'- a\n\n\n- c',
  e'a\n\n[//]: # (b - `c` <d>)\n[comment]: <> "e\nf"\n\ng', e'a\n\n\ng',
  '<!-- a -->', '',
  e'one ` two <!-- a -->', 'one ` two '
  ]) d $$, 'comments are hidden: HTML''s as on GitHub, and definitions that link nowhere');

select is_empty($$ select left(d.text, 200), left(d.seen, 200), d.wanted from pg_temp.differing(array[
  'a <script type="x">b < c</script> d', 'a  d',
  '<STYLE>p {}</STYLE>a', 'a',
  '<div hidden><div>a</div>b</div>c', 'c',
  '<p style="color: red; display : none">a</p>b', 'b',
  '<p style="font-family: ''Arial''; visibility:collapse">a</p>b', 'b',
  '<p style="font-size:0px">a</p><p style="opacity: 0.0;">b</p><p style="mso-hide:all">c</p>d', 'd',
  '<div style="max-height:0;overflow:hidden">a</div><div style="overflow:hidden; width: 0">b</div>c', 'c',
  '<p style="position:absolute;left:-9999px">a</p><p style="text-indent:-999em">b</p><p style="clip:rect(0,0,0,0)">c</p>d', 'd',
  '<p style="color:#FFF">a</p><font size="1" color="white">b</font><p style="color:transparent">c</p>d', 'd',
  '<details><summary>Log</summary><template>a</template>b</details>', '<details><summary>Log</summary>b</details>'
  ]) d $$, 'elements that browsers do not show are hidden');

select is_empty($$ select left(d.text, 200), left(d.seen, 200), d.wanted from pg_temp.differing(array[
  e'```html\n<!-- a -->\n```\n<!-- b -->c', e'```html\n<!-- a -->\n```\nc',
  e'~~~~\n~~~\n<!-- a -->\n~~~~\n<!-- b -->c', e'~~~~\n~~~\n<!-- a -->\n~~~~\nc',
  e'- a\n  ```\n  [//]: # (b)\n  ```', e'- a\n  ```\n  [//]: # (b)\n  ```',
  e'a\n\n\t<!-- b -->\n\nc<!-- d -->', e'a\n\n\t<!-- b -->\n\nc',
  '`<!-- a -->` and `` ` <script>b</script> `` <!-- c -->', '`<!-- a -->` and `` ` <script>b</script> `` ',
  e'<script> is missing:\n```\n</script>\n```', e'<script> is missing:\n```\n</script>\n```',
  e'```a``` <!-- b -->c', '```a``` c',
  e'```\n<!-- a -->', e'```\n<!-- a -->'
  ]) d $$, 'what stands in code is visible');

select is_empty($$ select left(d.text, 200), left(d.seen, 200), d.wanted from pg_temp.differing(array[
  '![photo](data:image/png;base64,' || repeat('iVBORw0KGgo1', 20) || ') after', '![photo]([image]) after',
  '<img alt="photo" src="data:image/svg+xml,' || repeat('%3Csvg%20', 20) || '">', '<img alt="photo" src="[image]">',
  '<img src="data:image/svg+xml;utf8,<svg a=''b''>' || repeat('<path d=''M0 0''/>', 20) || '</svg>" alt="photo">', '<img src="[image]" alt="photo">',
  e'```\n-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEow\n-----END RSA PRIVATE KEY-----\n```', e'```\n[RSA PRIVATE KEY]\n```',
  'token: ' || repeat('eyJhbGci0iJI', 20) || '== end', 'token: [data] end',
  e'a\n' || repeat(repeat('iVBORw0KGgo1', 6) || e'\n', 9) || e'AAA=\nb', e'a\n[data]\nb',
  'a <svg width="3"><title>b</title><path d="M0"/></svg> c', 'a [image] c',
  'a ' || repeat('!function(e){return[e,1]}(this);', 99) || ' b', 'a [data] b',
  'a ' || repeat('function(thing){return[thing.name,thing.value,thing.other,1]};', 99) || ' b', 'a [data] b'
  ]) d $$, 'inline data is a short mark, in code too');

select is_empty($$ select left(text, 200), left(tasklens.visible_text(text), 200) from unnest(array[
  '    at org.example.Foo$Bar.run(Foo.java:51) ~[foo-1.2.jar!/:1.2]', 'See https://example.org/' || repeat('A1b2c3d4e5/', 300),
  repeat('https://example.org/a?b=' || repeat('aB3', 70) || ' ', 3), repeat(md5('a') || md5('b') || e'\n', 20),
  repeat('水泵在负载下漏水', 500), repeat('ปั๊มรั่ว', 500), '/home/' || repeat('SomeLongFolderName/', 20),
  repeat('2026-01-05 09:00:00 INFO [main] o.e.Foo - {"id":51,"name":"a b"} ', 60), 'a < b && c > d; List<String> <hidden>',
  e'  a\r\n\r\n\r\nb \n', '[1]: https://example.org "title"', '<p class="hidden" title="a hidden b">c</p>',
  '<p style="opacity:0.5;font-size:0.8em;line-height:0;max-height:0;margin-left:-10px;color:#ffff00">a</p>', '<p aria-hidden="true" style="overflow:hidden;min-width:0">a</p>',
  '<td style="background:#036"><b style="color:#fff">a</b></td>', '<td bgcolor="navy"><font color="white">a</font></td>', 'style="display:none" hides it',
 'a <!-- b', e'a <!-- b\n\nc --> d', '\<!-- a -->',
  'the <script> tag', '', null]) text where tasklens.visible_text(text) is distinct from text $$,
  'other texts stay byte for byte: traces, addresses, hashes, paths, logs, scripts without spaces');

-- Time, in proportion to one sixty-fourth of the text.
create function pg_temp.growth(piece text, times integer) returns numeric language plpgsql as $$
declare
  start timestamptz;
  durations numeric[] := '{}';
  few constant text := '<!-- a -->' || repeat(piece, times);
  many constant text := '<!-- a -->' || repeat(piece, 64 * times);
begin
  foreach piece in array array[few, few, few, many] loop
    start := clock_timestamp();
    perform tasklens.visible_text(piece);
    durations := durations || extract(epoch from clock_timestamp() - start);
  end loop;
  return durations[4] / greatest(0.001, (select percentile_disc(0.5) within group (order by d) from unnest(durations[:3]) d));
end
$$;
select cmp_ok(max(pg_temp.growth(p, 100)), '<', 1000::numeric, 'sixty-four times the text takes far less than sixty-four squared times the time')
from unnest(array['<!-- ', '-->', '<a b="', '` `` ', e'\n[a]: # "', e'\n[a]: # (', e'\n```', '<div hidden> ', '-----BEGIN KEY-----', 'data:image/png;base64, ', e'\n', ':AbcdE']) p;

-- A text is read up to a blank line within text_limit. What follows is shown if it cannot hide.
select is_empty($$ select left(d.text, 20), right(d.seen, 60), right(d.wanted, 60) from pg_temp.differing(array[
  '<!-- a -->b' || repeat(e'c\n', 110000) || 'x -> y', 'b' || repeat(e'c\n', 110000) || 'x -> y',
  'a' || repeat(e'\n\nb', 70000) || '<!-- walrus --> c', 'a' || repeat(e'\n\nb', 66665) || e'\n\n\n[…]',
  'a <div hidden>walrus ' || repeat(e'\n\nb', 70000) || '</div>c', e'a \n[…]',
  e'a\n<!-- walrus ' || repeat(e'\n\nb', 70000) || '--> c', e'a\n\n[…]',
  e'a\n<!-- walrus ' || repeat(e'\n\nb', 70000), 'a',
  '<!-- a -->' || repeat(e'b\n\n', 66665) || e'cccc\n[//]: # (walrus\nwalrus)\nd', repeat(e'b\n\n', 66663) || e'\n[…]'
  ]) d $$, 'what is left out of a long text hides nothing in silence and shows nothing hidden');

select throws_like($$ select public.visible_texts(array[repeat('a', 100000), repeat('b', 100001)]) $$, 'texts has 200001 characters', 'drafts are bounded in all');

-- A turn for each character or line would take minutes.
set local statement_timeout = '20s';
select is(length(tasklens.visible_text('a<!-- a -->' || repeat(e'\n', 8000000) || 'b')), 8000002, 'eight million blank lines after a comment are read at once');
select is(length(tasklens.visible_text('<!-- a -->' || repeat(e'    at org.example.Foo$Bar.run(Foo.java:51) ~[foo-1.2.jar!/:1.2]\n', 60000))), 3899999,
  'so is a trace of 60,000 lines');
reset statement_timeout;

-- Stored beside the original.
insert into public.status (status_id, name) values (1, 'To Do');
insert into public.projects (project_id, key, name, description) values (1, 'AA', 'Pumps', 'All of them <!-- walrus -->');
insert into public.tickets (ticket_id, key, project_id, status_id, name, description, created_at, updated_at) values
  (11, 'AA-11', 1, 1, 'Pump leaks', 'At the seal <!-- walrus E_WALRUS_1 -->', '2026-01-01', '2026-01-01'), (12, 'AA-12', 1, 1, 'Plain', 'Nothing', '2026-01-01', '2026-01-01');
insert into public.status_changes (ticket_id, status_id, note) values (11, 1, 'Sealed <!-- walrus -->');
insert into public.comments (comment_id, ticket_id, author, body) values (111, 11, 'Ada', 'It drips <!-- walrus -->');
insert into public.documents (title, content) values ('Sealing', 'Seal it <!-- walrus -->');
update public.tickets set name = name;

select row_eq($$ select (select count(*) from public.tickets where visible_text is null), (select max(updated_at) from public.tickets) $$,
  row(1::bigint, '2026-01-01'::timestamptz), 'it is stored only where it differs, and writing the same again changes nothing');

select is_empty($$
  select * from (
    select words::text as text from public.keyword_entries union all select words::text from public.comment_entries
    union all select texts::text from tasklens.source_texts(array(select source_id from tasklens.sources))
    union all select g::text from public.get_ticket(11, visible => true) g
    union all select g.content from public.documents d cross join lateral public.get_document(d.id, true) g
    union all select l::text from public.list_tickets() l
    union all select c::text from public.count_tickets() c
    union all select s::text from public.search_hybrid('leaks seal') s
    union all select s::text from public.search_hybrid('E_WALRUS_1') s
    union all select f.text from public.find_similar_tickets(11, 'm') f
  ) x where text ~ 'walrus' $$, 'nothing hidden is indexed, embedded, quoted or shown to a model');

select is((select array[description, status_changes -> 0 ->> 'note', comments -> 0 ->> 'body'] from public.get_ticket(11)),
  array['At the seal <!-- walrus E_WALRUS_1 -->', 'Sealed <!-- walrus -->', 'It drips <!-- walrus -->'], 'get_ticket returns the original');

-- HTML, of which an own table's view shows the text.
select results_eq($$ select tasklens.text_of_html(v.html) from (values
    ('<p>Hello <b>world</b></p><p class="a > b">second&nbsp;line &amp; &lt;b&gt; &#8364;&#x20AC; &auml; &unknown; & 1 < 2</p>'),
    (e'<DIV>one\n two<br/>three</DIV>\n<ul><li>a</li>\n<li>b</li></ul><table><tr><td>1</td><td>2</td></tr></table>'),
    (e'<p>See</p><pre><code>if x:\n    return 1\n</code></pre>'),
    ('<style>p{}</style><script>alert("<p>")</script><!-- no --><p style="display:none">secret</p>Shown `<b>plain</b>`'),
    ('<p>Cut <a href="https://acme.example/?a=1&amp;b=2">short'), ('no tags'), ('<p></p>'), (null)) v(html) $$,
  array[e'Hello world\nsecond line & <b> €€ ä &unknown; & 1 < 2', e'one two\nthree\n- a\n- b\n1 2', e'See\nif x:\n    return 1', 'Shown `plain`', 'Cut short', 'no tags', '', null],
  'text_of_html shows what a reader sees, without tags');

select * from finish();
rollback;
