BEGIN TRANSACTION;
CREATE TABLE access_tokens (
	id TEXT NOT NULL, 
	user TEXT NOT NULL, 
	name TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	created FLOAT NOT NULL, 
	created_by TEXT NOT NULL, 
	expires FLOAT NOT NULL, 
	last_used FLOAT, 
	revoked FLOAT, 
	PRIMARY KEY (id)
);
INSERT INTO "access_tokens" VALUES('6e7a27d08c','daemon','login3','submit','8057cd0f6cfe1c8f0a0e794b11e176862b0bc75fedb1fb5a73f7100f594a3ae1',1.79529121570095419888e+09,'root',1.79788321570095419878e+09,NULL,NULL);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0004');
CREATE TABLE clusters (
	name TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	version TEXT NOT NULL, 
	seen FLOAT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "clusters" VALUES('delft',16,'simulated',1.79529121406335258489e+09);
INSERT INTO "clusters" VALUES('leiden',8,'simulated',1.79529121406638598437e+09);
CREATE TABLE components (
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	component INTEGER NOT NULL, 
	cluster TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	reserves BOOLEAN NOT NULL, 
	seq INTEGER NOT NULL, 
	phase TEXT NOT NULL, 
	step TEXT NOT NULL, 
	reservation BOOLEAN NOT NULL, 
	started BOOLEAN NOT NULL, 
	native_id TEXT, 
	submit_time FLOAT, 
	hosts TEXT NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	cause TEXT, 
	detail TEXT NOT NULL, term BIGINT DEFAULT '0' NOT NULL, 
	PRIMARY KEY (job, attempt, component)
);
INSERT INTO "components" VALUES(1,1,0,'delft',2,0,1,'gone','',0,1,'1',1.7952912143523950577e+09,'vm',1.7952912143587558269e+09,1.795291214366755724e+09,0,NULL,'',0);
INSERT INTO "components" VALUES(2,1,0,'delft',2,0,2,'gone','',0,1,'2',1.79529121455233263968e+09,'vm',1.79529121455660629273e+09,1.79529121455875587468e+09,3,'exit','',0);
INSERT INTO "components" VALUES(3,1,0,'delft',4,1,3,'gone','',1,1,'3',1.79529121473367857938e+09,'vm',1.79529121484675574299e+09,1.79529121484675574299e+09,0,NULL,'',0);
INSERT INTO "components" VALUES(3,1,1,'leiden',4,1,3,'gone','',1,1,'1',1.79529121473205018045e+09,'vm',1.79529121484275579452e+09,1.79529121484675574299e+09,0,NULL,'',0);
INSERT INTO "components" VALUES(5,1,0,'delft',2,0,4,'gone','',0,1,'4',1.79529121531341290468e+09,'vm',1.79529121531875586513e+09,1.7952912153227558136e+09,0,NULL,'',0);
INSERT INTO "components" VALUES(6,1,0,'delft',2,0,5,'started','',0,1,'5',1.79529121584048867226e+09,'vm',1.79529121584675574298e+09,NULL,NULL,NULL,'RUNNING',0);
INSERT INTO "components" VALUES(7,1,0,'delft',4,1,6,'started','',1,1,'6',1.79529121604267907145e+09,'vm',1.79529121615875577929e+09,NULL,NULL,NULL,'RUNNING',0);
INSERT INTO "components" VALUES(7,1,1,'leiden',4,1,6,'started','',1,1,'2',1.79529121604076337815e+09,'vm',1.79529121615475583078e+09,NULL,NULL,NULL,'RUNNING',0);
INSERT INTO "components" VALUES(8,1,0,'delft',2,0,7,'started','',0,1,'7',1.7952912162273430824e+09,'vm',1.79529121624275588985e+09,NULL,NULL,NULL,'RUNNING',0);
INSERT INTO "components" VALUES(9,1,0,'delft',1,0,8,'started','clean',0,1,'8',1.79529121640682435036e+09,'vm',1.79529121641875576975e+09,NULL,NULL,NULL,'RUNNING',0);
CREATE TABLE events (
	id INTEGER NOT NULL, 
	time FLOAT NOT NULL, 
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	what TEXT NOT NULL, 
	detail JSON NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "events" VALUES(1,1.79529121434032773972e+09,1,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(2,1.79529121434032773972e+09,1,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(3,1.79529121434032773972e+09,1,1,'submitting','{}');
INSERT INTO "events" VALUES(4,1.79529121435443520544e+09,1,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "1"}');
INSERT INTO "events" VALUES(5,1.79529121438044786448e+09,1,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(6,1.79529121438044786448e+09,1,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(7,1.79529121438044786448e+09,1,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(8,1.79529121454559516908e+09,2,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(9,1.79529121454559516908e+09,2,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(10,1.79529121454559516908e+09,2,1,'submitting','{}');
INSERT INTO "events" VALUES(11,1.79529121455378842353e+09,2,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "2"}');
INSERT INTO "events" VALUES(12,1.79529121457933521274e+09,2,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(13,1.79529121457933521274e+09,2,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 3}');
INSERT INTO "events" VALUES(14,1.79529121457933521274e+09,2,1,'failed','{"why": "component 0 in delft: its script ended with exit code 3", "exit_code": 3}');
INSERT INTO "events" VALUES(15,1.79529121472138667109e+09,3,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(16,1.79529121472138667109e+09,3,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(17,1.79529121472821187968e+09,3,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(18,1.79529121472949576383e+09,3,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(19,1.79529121472949576383e+09,3,1,'submitting','{}');
INSERT INTO "events" VALUES(20,1.79529121473666334156e+09,3,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "1"}');
INSERT INTO "events" VALUES(21,1.79529121473797512054e+09,3,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "3"}');
INSERT INTO "events" VALUES(22,1.79529121473797512054e+09,3,1,'waiting','{}');
INSERT INTO "events" VALUES(23,1.79529121476084756853e+09,3,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(24,1.79529121476227951047e+09,3,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(25,1.7952912148054223061e+09,3,1,'opened','{}');
INSERT INTO "events" VALUES(26,1.79529121485311937331e+09,3,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(27,1.79529121485311937331e+09,3,1,'ended','{"component": 1, "cluster": "leiden", "exit_code": 0}');
INSERT INTO "events" VALUES(28,1795291214.85459,3,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(29,1795291214.85459,3,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(30,1795291214.85459,3,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(31,1.79529121513043594363e+09,4,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(32,1.79529121521352243422e+09,4,0,'cancel','{"by": "root"}');
INSERT INTO "events" VALUES(33,1.79529121521352243422e+09,4,0,'cancelled','{"why": "cancelled by root"}');
INSERT INTO "events" VALUES(34,1.79529121530593776699e+09,5,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(35,1.79529121530593776699e+09,5,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(36,1.79529121531130242354e+09,5,1,'files sent','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10}');
INSERT INTO "events" VALUES(37,1.79529121531130242354e+09,5,1,'submitting','{}');
INSERT INTO "events" VALUES(38,1.79529121531511521346e+09,5,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "4"}');
INSERT INTO "events" VALUES(39,1.79529121534289264677e+09,5,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(40,1.79529121534289264677e+09,5,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(41,1.79529121535383653636e+09,5,1,'results back','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10, "folder": "@FOLDER@/metabroker-5.0"}');
INSERT INTO "events" VALUES(42,1.79529121535383653636e+09,5,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(43,1.79529121583466720578e+09,6,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(44,1.79529121583466720578e+09,6,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(45,1.79529121583466720578e+09,6,1,'submitting','{}');
INSERT INTO "events" VALUES(46,1.79529121584241390229e+09,6,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "5"}');
INSERT INTO "events" VALUES(47,1.79529121587211561205e+09,6,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(48,1.79529121603084921838e+09,7,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(49,1.79529121603084921838e+09,7,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(50,1.79529121603727746013e+09,7,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(51,1.79529121603852534301e+09,7,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(52,1.79529121603852534301e+09,7,1,'submitting','{}');
INSERT INTO "events" VALUES(53,1.79529121604382824899e+09,7,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "2"}');
INSERT INTO "events" VALUES(54,1.79529121604736948011e+09,7,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "6"}');
INSERT INTO "events" VALUES(55,1.79529121604736948011e+09,7,1,'waiting','{}');
INSERT INTO "events" VALUES(56,1.79529121607010984417e+09,7,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(57,1.79529121607247018821e+09,7,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(58,1.79529121611611247057e+09,7,1,'opened','{}');
INSERT INTO "events" VALUES(59,1.79529121616246986389e+09,7,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(60,1.79529121616473221782e+09,7,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(61,1.79529121622306728363e+09,8,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(62,1.79529121622306728363e+09,8,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(63,1.79529121622306728363e+09,8,1,'submitting','{}');
INSERT INTO "events" VALUES(64,1.79529121623116779326e+09,8,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "7"}');
INSERT INTO "events" VALUES(65,1.79529121626312398911e+09,8,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(66,1.79529121640329766274e+09,9,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(67,1.79529121640329766274e+09,9,1,'placed','{"clusters": ["delft"], "processors": [1]}');
INSERT INTO "events" VALUES(68,1.79529121640329766274e+09,9,1,'submitting','{}');
INSERT INTO "events" VALUES(69,1.7952912164083902835e+09,9,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "8"}');
INSERT INTO "events" VALUES(70,1.7952912164252452851e+09,9,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(71,1.79529121662206292151e+09,10,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(72,1.79529121672221541401e+09,11,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(73,1.79529121682109832759e+09,12,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(74,1.79529121694327378267e+09,13,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(75,1.79529121856861138342e+09,9,1,'cancel','{"by": "root"}');
CREATE TABLE facts (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "facts" VALUES('instance','4f96896e');
INSERT INTO "facts" VALUES('policy memory','{"clusters": ["delft", "leiden"], "memory": [12, [], []]}');
CREATE TABLE jobs (
	id INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	name TEXT NOT NULL, 
	state TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	sizes JSON NOT NULL, 
	clusters JSON, 
	queue TEXT NOT NULL, 
	local TEXT, 
	home TEXT, 
	time_limit INTEGER NOT NULL, 
	submit_time FLOAT NOT NULL, 
	seq INTEGER NOT NULL, 
	queued_at FLOAT NOT NULL, 
	attempt INTEGER NOT NULL, 
	submission_failures INTEGER NOT NULL, 
	completion_failures INTEGER NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	deadline FLOAT, 
	goal TEXT, 
	"by" TEXT NOT NULL, stages_in BOOLEAN DEFAULT 0 NOT NULL, stages_out BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "jobs" VALUES(1,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79529121434032773972e+09,1,1.79529121434032773972e+09,1,0,0,1.7952912143587558269e+09,1.79529121438044786448e+09,0,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(2,'root','job.sh','FAILED','component 0 in delft: its script ended with exit code 3','[2]','null','',NULL,NULL,3600,1.79529121454559516908e+09,2,1.79529121454559516908e+09,1,0,1,1.79529121455660629273e+09,1.79529121457933521274e+09,3,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(3,'root','job.sh','COMPLETED','','[4, 4]','null','',NULL,NULL,3600,1.79529121472138667109e+09,3,1.79529121472138667109e+09,1,0,0,1.7952912148054223061e+09,1795291214.85459,0,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(4,'root','job.sh','CANCELLED','cancelled by root','[1]','null','',NULL,NULL,3600,1.79529121513043594363e+09,0,0.0,0,0,0,NULL,1.79529121521352243422e+09,NULL,NULL,NULL,'root',0,0);
INSERT INTO "jobs" VALUES(5,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79529121530593776699e+09,4,1.79529121530593776699e+09,1,0,0,1.79529121531875586513e+09,1.79529121535383653636e+09,0,NULL,NULL,'',1,1);
INSERT INTO "jobs" VALUES(6,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79529121583466720578e+09,5,1.79529121583466720578e+09,1,0,0,1.79529121584675574298e+09,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(7,'root','job.sh','RUNNING','','[4, 4]','null','',NULL,NULL,3600,1.79529121603084921838e+09,6,1.79529121603084921838e+09,1,0,0,1.79529121611611247057e+09,NULL,NULL,1.79529484611611247057e+09,NULL,'',0,0);
INSERT INTO "jobs" VALUES(8,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79529121622306728363e+09,7,1.79529121622306728363e+09,1,0,0,1.79529121624275588985e+09,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(9,'root','job.sh','RUNNING','cancelled by root; waits until its clusters have ended it','[1]','null','',NULL,NULL,3600,1.79529121640329766274e+09,8,1.79529121640329766274e+09,1,0,0,1.79529121641875576975e+09,NULL,NULL,NULL,'cancel','root',0,0);
INSERT INTO "jobs" VALUES(10,'root','job.sh','QUEUED','','[16]','null','',NULL,NULL,3600,1.79529121662206292151e+09,9,1.79529121662206292151e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(11,'root','job.sh','QUEUED','','[8, 8]','null','',NULL,NULL,3600,1.79529121672221541401e+09,10,1.79529121672221541401e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(12,'root','job.sh','QUEUED','','[8]','["leiden"]','','leiden',NULL,3600,1.79529121682109832759e+09,11,1.79529121682109832759e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(13,'root','job.sh','HELD','held by root at submission','[2]','null','',NULL,NULL,3600,1.79529121694327378267e+09,0,0.0,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0);
CREATE TABLE leadership (
	only INTEGER NOT NULL, 
	term BIGINT NOT NULL, 
	holder TEXT NOT NULL, 
	expires FLOAT NOT NULL, 
	PRIMARY KEY (only), 
	UNIQUE (term)
);
CREATE TABLE scripts (
	job INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	request_id TEXT, 
	secret TEXT NOT NULL, 
	script BLOB NOT NULL, 
	spec JSON NOT NULL, 
	PRIMARY KEY (job), 
	UNIQUE (user, request_id)
);
INSERT INTO "scripts" VALUES(1,'root','6ed81838-554d-4327-8295-92c9bed1c99a','1c59bb870b008fef2e929140',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(2,'root','b52c32f0-f71e-49c9-b0a0-79aac1a692dd','6412028c2d35a8bcdc37bb03',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["3", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(3,'root','9d0dff86-5f07-4500-945b-380d498e5569','01e8fb5aca2f2b4c4e94bc7c',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(4,'root','d9f7441b-3f8f-458c-8b74-7749cc68340e','c612881d22fa7c5ba625b975',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(5,'root','7dee96b6-1e5e-4350-a06d-db2e1118d657','9c66b2c508ffcfbacac3ccce',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": ["input"], "stage_out": ["*"], "submit_dir": "@FOLDER@", "owner": null}');
INSERT INTO "scripts" VALUES(6,'root','931fbbb3-a8b1-458b-817f-d4d04ad2df5f','1ac529a500cd8eb2baaa451d',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", "end"], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(7,'root','44c13193-edd9-45ae-82c5-d52065bc9215','f6a4656a7adc971032b74791',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", "end"], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(8,'root','once','4462582b403007fc8b4e4b16',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", "end"], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(9,'root','c222d3aa-a5fa-4d51-9fab-464fe2aea426','d95e11febe5785809ba99303',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", "end"], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(10,'root','2ca90885-bfee-4978-8cb0-2f656fd43cbc','1520e11c2f142e9bc96c6464',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(11,'root','ec82464a-14da-47c4-bac7-53c1356d3b5c','2f5b0958b199150a6afce0f2',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(12,'root','46c43b57-af4c-4415-836f-4236e524f7c6','5684ab47919da22eecad9301',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(13,'root','fcc508f6-c2cc-4f71-81cc-b40d483b48ff','53a1c463d802fe4292cd85b2',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
CREATE INDEX components_by_phase ON components (phase);
CREATE INDEX components_by_seq ON components (seq);
CREATE INDEX events_by_job ON events (job);
CREATE INDEX jobs_by_end ON jobs (end_time);
CREATE INDEX jobs_by_state ON jobs (state);
CREATE INDEX access_tokens_by_user ON access_tokens (user);
COMMIT;
