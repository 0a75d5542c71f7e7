-- What readers of a Markdown or HTML text see of it: what is searched, embedded, quoted and sent to
-- a model. Every pattern stops where its beginning would match again, so that the time is linear.

-- Data that nobody reads: data: addresses, keys and certificates, base64 in one run or in lines,
-- and, in lines of more than 2,000 characters, long runs without spaces. Base64 has capitals, small
-- letters and many digits, unlike paths and hashes. Addresses and scripts without spaces stay.
create function tasklens.mark_data(text text) returns text
language plpgsql immutable security invoker set search_path = ''
as $$
declare
  marked text := mark_data.text;
  mixed constant text := '(?=(?:[A-Za-z+/]*[0-9]){10})(?=[A-Z0-9+/]*[a-z])(?=[a-z0-9+/]*[A-Z])';
begin
  if marked ~* '\mdata:[a-z]' then
    marked := regexp_replace(marked, '"data:image/svg[^"\n]{64,}"|''data:image/svg[^''\n]{64,}''', '"[image]"', 'gi'); -- plain SVG has spaces
    marked := regexp_replace(marked, '\mdata:([a-z]+)/[a-z0-9.+-]+(?:;[a-z0-9=._-]+)*,[^][\s()<>"''`]{64,}', '[\1]', 'gi');
  end if;
  if strpos(marked, '-----BEGIN ') > 0 then
    marked := regexp_replace(marked, '-----BEGIN ([A-Z0-9 ]*(?:KEY|CERTIFICATE|REQUEST|PARAMETERS|CRL|CMS|PKCS7|MESSAGE|SIGNATURE)(?: BLOCK)?)-----'
      '(?:[^-]|-{1,4}[^-])*-----END [A-Z0-9 ]+-----', '[\1]', 'g');
  end if;
  if marked ~ '[A-Za-z0-9+/]{60}' then
    marked := regexp_replace(marked, '(?:^|(?<=[\s"''(,:>[]))' || mixed || '[A-Za-z0-9+/]{200,}={0,2}', '[data]', 'g');
    marked := regexp_replace(marked, '(^|\n)([ \t>]*)' || mixed || '[A-Za-z0-9+/]{60,80}\r?(?:\n[ \t>]*[A-Za-z0-9+/]{60,80}\r?){2,}'
      '(?:\n[ \t>]*(?:[A-Za-z0-9+/]{16,79}|[A-Za-z0-9+/]{0,79}={1,2}))?(?=\s|$)', '\1\2[data]', 'g');
  end if;
  if octet_length(marked) > 2000 and exists (select from string_to_table(marked, e'\n') line where octet_length(line) > 2000) then
    marked := (
      select string_agg(case
          when r.rest is null then l.line
          -- Almost without spaces, but for prose before and after.
          when length(r.bare) > 2000 and length(r.bare) > 40 * (length(r.bare) - length(translate(r.bare, e' \t', '')))
            then regexp_replace(r.rest, '[!-~]{40,}(?:.*[!-~]{40,})?', '[data]')
          else r.rest end, e'\n' order by l.place)
      from string_to_table(marked, e'\n') with ordinality as l(line, place)
      left join lateral (
        select string_agg(case when w.is_data then '[data]' else w.word end, ' ' order by w.place) as rest,
          string_agg(case when w.word ~ '^[!-~]*$' and not w.is_data then w.word else '' end, ' ' order by w.place) filter (where w.word !~ '://') as bare
        from (
          select x.word, x.place, octet_length(x.word) > 2000 and x.word ~ '^[!-~]+$' and x.word !~ '://' as is_data
          from string_to_table(l.line, ' ') with ordinality as x(word, place)
        ) w
        where octet_length(l.line) > 2000
      ) r on true);
  end if;
  return marked;
end
$$;
comment on function tasklens.mark_data is 'A text with a short mark such as [image], [PRIVATE KEY] or [data] in place of each inline datum.';

-- Comments (<!-- -->, [//]: # (…)) and elements that browsers do not show, but not within code.
-- As on GitHub, a comment that is not closed is one where it begins a line, and then hides the
-- rest. An element is hidden only if it is closed. Security definer: writers of tickets need no
-- rights in this schema.
create function tasklens.visible_text(text text) returns text
language plpgsql immutable security definer set search_path = ''
as $$
declare
  marked constant text := tasklens.mark_data(visible_text.text);
  -- With a definition that links nowhere.
  line_start constant text := '\r?\n[ \t>]*(?:\[[^]\n]+\]:[ \t]*(?:#|<#?>)[ \t]*(?:"(?:[^"\n]|\n[ \t]*[^"\s])*"|''(?:[^''\n]|\n[ \t]*[^''\s])*'''
    '|\((?:[^()\n]|\n[ \t]*[^()\s])*\))?[ \t]*(?=\r?\n|$))?';
  tag constant text := '</?[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:@][A-Za-z0-9_.:-]*(?:\s*=\s*(?:"[^"]*"|''[^'']*''|[^]\s"''=<>`]+))?)*\s*/?>';
  unseen constant text := '<(?:script|style|template|title|noframes|noembed|datalist|svg)\M';
  -- In a style, also what has no size or is far outside. White is not seen where nothing has a
  -- background.
  zero constant text := '\s*:\s*0+(?:\.0+)?(?![.0-9])';
  flat constant text := '(?<![a-z-])(?:max-)?(?:height|width)' || zero;
  white constant text := case when marked ~* 'background|bgcolor' then null
    else '(?<![a-z-])color\s*[:=]\s*["'']?(?:white|transparent|#fff(?:fff)?\M|rgba?\(\s*255\s*,\s*255\s*,\s*255)' end;
  hides constant text := '(?:' || concat_ws('|', 'display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|mso-hide\s*:\s*all',
    '(?:opacity|font-size)' || zero || '|font-size\s*:\s*1px', flat || '[^<>]*overflow\s*:\s*hidden|overflow\s*:\s*hidden[^<>]*' || flat,
    '(?:left|top|text-indent)\s*:\s*-(?:[0-9]{4}|[0-9]{3}r?em)|clip(?:-path)?\s*:\s*(?:rect\(\s*[01]|inset\(\s*(?:50|100)%)', white) || ')';
  result text;
  token record;
  pieces text[] := array[]::text[];
  of_code boolean[] := array[]::boolean[];
  hidden_until bigint := 0;
  copied_until bigint := 0; -- a code span
  drops_line boolean;
  fence text;
  indented boolean := false;
  after_blank boolean := true;
  indent integer;
  content_at integer := 0;  -- where the content of a list's item begins
begin
  if (marked !~* ('<!--|<[^<>]*(?:\mhidden\M|' || hides || ')|\]:[ \t]*[#<]|' || unseen)) is not false then
    return marked;
  end if;
  for token in
    select p.*, p.next_kind = e'\n' as ends_line,
      case when p.kind = '`' then lead(p.place) over (partition by p.piece order by p.place)
        else min(p.place) filter (where p.piece like '--%>') over backward end as twin,
      coalesce(min(p.place) filter (where p.is_blank) over backward, 9223372036854775807) as blank,
      min(p.place) filter (where p.kind = e'\n') over backward as next_line,
      min(p.place) filter (where p.kind = '`') over (backward rows between unbounded preceding and 1 preceding) as next_tick
    from (
      select l.*, l.next_kind = e'\n' and l.kind = e'\n' and strpos(l.piece, '[') = 0 as is_blank
      from (
        select k.*, coalesce(lead(k.kind) over in_order, e'\n') as next_kind, lead(k.piece) over in_order as next_piece, lag(k.piece) over in_order as last_piece,
          lag(k.kind) over in_order = e'\n' as begins_line
        from (
          select m[1] as piece, r.place, left(ltrim(m[1], e'\r'), 1) as kind
          from regexp_matches(e'\n' || marked, line_start || '|`+|~+|<!--+>|<!--|-+>?|' || tag || '|<|[^\r\n<`~-]+|\r', 'g') with ordinality as r(m, place)
        ) k
        window in_order as (order by k.place)
      ) l
    ) p
    window backward as (order by p.place desc)
    order by p.place
  loop
    if token.place > hidden_until then
      if token.kind = e'\n' then
        if token.is_blank then
          after_blank := true;
        else
          indent := length(replace(substring(regexp_replace(token.piece, '\[.*', '') from '[ \t]*$'), e'\t', '    '));
          indented := fence is null and indent >= content_at + 4 and (after_blank or indented);
          if not indented and fence is null then
            if concat(token.next_piece, ' ') ~ '^([*+-]|[0-9]{1,9}[.)])\s' then
              content_at := indent + 2;
            elsif after_blank and indent < content_at then
              content_at := 0;
            end if;
          end if;
          after_blank := false;
          if strpos(token.piece, '[') > 0 and not indented and fence is null then
            hidden_until := token.place;
            drops_line := false;
          end if;
        end if;
      elsif fence is not null then
        if token.begins_line and starts_with(token.piece, fence) and (token.ends_line or token.next_piece ~ '^\s+$') then
          fence := null;
          pieces := pieces || token.piece;
          of_code := of_code || true;
          continue;
        end if;
      elsif token.kind in ('`', '~', '<') and not indented and token.place > copied_until and right(token.last_piece, 1) <> '\' then
        if token.begins_line and (token.piece like '~~~%' or token.piece like '```%' and (token.next_tick < coalesce(token.next_line, token.next_tick + 1)) is not true) then
          fence := token.piece;
        elsif token.kind = '`' and token.twin < token.blank then
          copied_until := token.twin;
        elsif token.piece like '<!--%' then
          drops_line := token.begins_line;
          hidden_until := case when token.piece like '%>' then token.place
            when token.begins_line then coalesce(token.twin, 9223372036854775807)
            when token.twin < token.blank then token.twin
            else hidden_until end;
        end if;
      end if;
    end if;
    if token.place > hidden_until then
      pieces := pieces || token.piece;
      of_code := of_code || (fence is not null or indented or token.place <= copied_until);
    elsif token.place = hidden_until and token.ends_line and drops_line then
      pieces[cardinality(pieces)] := '';
    end if;
  end loop;
  result := array_to_string(pieces, '');
  if result ~* ('<[^<>]*(?:\mhidden\M|' || hides || ')|' || unseen) then
    result := (
      with tag as (
        select p.place, p.piece, p.piece like '</%' as closes, n.name,
          sum(case when p.piece like '</%' then -1 else 1 end) over (partition by n.name order by p.place) + (p.piece like '</%')::integer as level
        from unnest(pieces, of_code) with ordinality as p(piece, of_code, place)
        cross join lateral (select lower(substring(p.piece from '^</?([A-Za-z][A-Za-z0-9-]*)')) as name) n
        where not p.of_code and n.name is not null
      ), range as (
        select m.* from (
          select t.*, lead(t.place) over (partition by t.name, t.level order by t.place) as mate from tag t
        ) m
        where not m.closes and m.mate is not null and (m.piece ~* ('^' || unseen)
          or regexp_replace(m.piece, '"[^"]*"|''[^'']*''', '', 'g') ~* '\shidden(?=[\s=/>])'
          or m.piece ~* ('\sstyle\s*=\s*(?:"[^">]*|''[^''>]*|[^"''\s>]*)' || hides) or m.piece ~* ('^<font\s(?:[^>]*\s)?' || white))
      ), edge as (
        select r.place, 1 as change, r.name from range r union all select r.mate, -1, null from range r
      ), shown as (
        select p.place, p.piece, e.change, e.name, sum(e.change) over (order by p.place) as depth
        from unnest(pieces) with ordinality as p(piece, place) left join edge e using (place)
      )
      select string_agg(case when s.depth > 0 or s.change < 0 then case when s.name = 'svg' and s.depth = 1 then '[image]' else '' end else s.piece end, ''
        order by s.place) from shown s);
  end if;
  result := substr(result, 1 + coalesce(length(substring(result from '^\r?\n')), 0));
  return case when result = marked then marked else btrim(result, e'\r\n') end;
end
$$;
comment on function tasklens.visible_text is
  'What a reader of a Markdown or HTML text sees: without comments and hidden elements outside of code, and with a short mark in place of inline data.';

create function public.visible_texts(texts text[]) returns text[]
language sql immutable security invoker set search_path = ''
as $$ select array(select tasklens.visible_text(t.text) from unnest(visible_texts.texts) with ordinality as t(text, place) order by t.place) $$;
comment on function public.visible_texts is 'What readers see of texts that are not stored, such as drafts, in their order.';

insert into tasklens.migrations (version) values ('20261127000105');
